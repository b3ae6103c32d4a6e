-- Return the bounds of the members of a sorted set that begin with a text and `/`, for commands with LEX in their names.
local function behind(text)
  return '[' .. text .. '/', '(' .. text .. '0' -- The character after `/`.
end
