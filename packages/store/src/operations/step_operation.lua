-- KEYS record
-- ARGV base id space action cursor after lowest highest most mayChange isDryRun reason delay listed tags nameCount inputs...
-- REPLY STEPPED status changed:number moves[]
-- REPLY OVERTAKEN
--
-- Examine the next jobs of an operation, and change those that match its filter and its statuses. Any number of processes can try
-- this at once, because only one of them finds the cursor that it expects. See lua/operation.
--   cursor, after   expected cursor; cursor after the last job of its index, or after the jobs in `inputs`
--   most            maximum number of jobs of the index to examine; 0 to examine the jobs in `inputs`
--   mayChange       maximum number of jobs to change
--   isDryRun        '1' to change nothing, '' otherwise; a requeue still checks unique keys
--   reason, delay, tags   see kill.lua, requeue.lua, hasTags
--   listed          number of jobs that the caller has examined to find those in `inputs`
--   inputs          `nameCount` names, followed by IDs
--   moves           see countMove
local status, statuses, expected = unpack(redis.call('HMGET', record, 'status', 'statuses', 'cursor'))
if status ~= 'running' or expected ~= cursor then return { 'OVERTAKEN' } end

local act
if action == 'requeue' then
  function act(jobId) return requeue(base, space, jobId, delay, isDryRun) end
end
if action == 'kill' then
  function act(jobId) return kill(base, space, jobId, reason) end
end
if action == 'delete' then
  function act(jobId) return delete_job(base, space, jobId) end
end
if action == 'reschedule' then
  function act(jobId) return reschedule(base, space, jobId, delay, '') end
end

passTurn(base, space, id, nowText)
local filter = { space = space, lowest = lowest, highest = highest, tags = tags, names = {} }
for i = 1, tonumber(nameCount) do filter.names[inputs[i]] = true end
local page, at, order = {}, string.match(cursor, '^(%S+) (%S+)$')
for i = nameCount + 1, #inputs do page[#page + 1] = { inputs[i] } end
if most ~= '0' then page = nextJobs(base .. 'space:' .. space .. '/status/' .. at, order, lowest, highest, most) end
if most ~= '0' and #page == tonumber(most) then after = at .. ' ' .. page[#page][2] end

local examined, changed, skipped, moves = tonumber(listed), 0, 0, {}
for _, entry in ipairs(page) do
  if most ~= '0' then examined = examined + 1 end
  local job = matchingJob(base, entry[1], filter)
  if job then
    local ok, reply = true, { string.find(' ' .. statuses .. ' ', ' ' .. job.status .. ' ', 1, true) and 'OK' }
    if reply[1] and (isDryRun == '' or action == 'requeue') then ok, reply = pcall(act, entry[1]) end
    local isDone = ok and reply[1] == 'OK' -- otherwise its unique key is taken, or its record is invalid
    if isDone then changed = changed + 1 else skipped = skipped + 1 end
    if isDone and isDryRun == '' then countMove(moves, job, OPERATION_ENDS[action] or reply[3]) end
  end
  if changed == tonumber(mayChange) and most ~= '0' then after = at .. ' ' .. entry[2] break end
end

return { 'STEPPED', recordStep(base, id, nowText, after, { examined, changed, skipped }), changed, moves }
