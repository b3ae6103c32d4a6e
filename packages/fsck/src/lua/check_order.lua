-- Orders are whole numbers up to here, see nextOrder.
local LAST_ORDER = 2 ^ 53

-- Check the last order of a space. It must not be below that of its newest job, or the next job would come before it.
-- It must not be past the whole numbers, or all later jobs would get one order.
local function checkOrder(found, base, space, newest)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest and last < LAST_ORDER then return end
  local kind = not last and 'space_missing' or last < newest and 'space_behind' or 'space_ahead'
  local detail = space .. (last and ' is at ' .. formatInteger(last) or ' has jobs and is not listed')
  find(found, kind, spaces, detail, found.additions, function()
    -- Raise it above all jobs. Otherwise each newer job would be reported as the same fault.
    for _, index in ipairs({ '/jobs', '/queue' }) do
      local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. index, 0, 0, 'WITHSCORES')
      local order = tonumber(top[2] or 0)
      if order < LAST_ORDER then newest = math.max(newest, order) end
    end
    replaceEntry(spaces, space, formatInteger(newest))
  end)
end
