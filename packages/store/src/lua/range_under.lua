-- Return the LEX bounds of the members of a sorted set that start with `<prefix>/`.
local function rangeUnder(prefix)
  return '[' .. prefix .. '/', '(' .. prefix .. '0' -- The character after `/`.
end
