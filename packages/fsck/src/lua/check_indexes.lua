-- Check that a job is in exactly those indexes of its space that it belongs in.
local function checkIndexes(found, r, base, nowMs)
  local space = base .. 'space:' .. r.space
  mustBeIn(found, space .. '/jobs', r.id, r.order)
  for _, status in ipairs(STATUSES) do
    local index = space .. '/status/' .. status
    if status == r.status then mustBeIn(found, index, r.id, r.order)
    else mustNotBeIn(found, index, r.id, 'the job is ' .. r.status) end
  end
  for tag in string.gmatch(r.tags or '', '[^\n]+') do mustBeIn(found, space .. '/tag/' .. tag, r.id, r.order) end
  local queues = { space .. '/queue', space .. '/queue/' .. r.name }
  if r.status == 'pending' then return checkQueues(found, r, base, nowMs, queues) end
  for _, queue in ipairs(queues) do mustNotBeIn(found, queue, r.id, 'the job is ' .. r.status) end
  checkOrder(found, base, r.space, tonumber(r.order), nowMs)
end
