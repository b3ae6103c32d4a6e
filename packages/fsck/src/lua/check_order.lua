-- Orders are exact whole numbers up to this limit; see nextOrder.
local LAST_ORDER = 2 ^ 53

-- Check the last order of a space. It must be at least that of the newest job, or the next job would come before it. It must
-- not exceed the limit, or all later jobs would get the same order.
local function checkOrder(found, base, space, newest, nowMs)
  local spaces = base .. 'spaces'
  local last = scoreIn(spaces, space)
  if last and last >= newest and last < LAST_ORDER then return end
  local kind = not last and 'space_missing' or last < newest and 'space_behind' or 'space_ahead'
  local detail = space .. (last and ' is at ' .. formatInteger(last) or ' has jobs but is not listed')
  find(found, kind, spaces, detail, found.additions, function()
    -- Raise it to the order of the newest job, or every job above it would be reported as the same fault. Claim orders can be
    -- higher, but are at most the current time, unless the clock has stepped back.
    local top = redis.call('ZREVRANGE', base .. 'space:' .. space .. '/jobs', 0, 0, 'WITHSCORES')
    local order = tonumber(top[2] or 0)
    newest = math.max(newest, nowMs * 1024, order < LAST_ORDER and order or 0)
    replaceEntry(spaces, space, formatInteger(newest))
  end)
end
