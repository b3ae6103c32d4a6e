-- Fields that a job must have in each status, and fields removed by retries that it must not have.
local NEEDS = { scheduled = { 'scheduledFor' }, delivered = { 'deliveredAt' }, running = { 'deliveredAt', 'startedAt' }, completed = { 'deliveredAt', 'startedAt' } }
local WAITING_LACKS = { 'deliveredAt', 'startedAt', 'runBy' }
local LACKS = { scheduled = WAITING_LACKS, pending = WAITING_LACKS, delivered = { 'startedAt', 'runBy' } }

-- Check the number of attempts of a job, and the fields that its status requires or excludes.
--   broken   reports a field as invalid
local function checkByStatus(broken, r)
  local attempt, status = tonumber(r.attempt), r.status
  local isWaiting = status == 'scheduled' or status == 'pending'
  r.hasTimes = status ~= 'scheduled' or r.scheduledFor ~= nil
  -- A dead job with delivery timeouts died of them, and one that was never acked died at its start limit. Neither needs an
  -- attempt.
  local wasAcked = not r.deliveryTimeouts and tonumber(r.startBy or 0) == 0
  local hasRun = status == 'running' or status == 'completed' or (status == 'dead' and wasAcked)
  -- A replaced request may allow fewer retries than the job had.
  local isReplaceable = r.unique and string.find(r.unique, '^%l+ replace ') ~= nil
  local most = isReplaceable and math.huge or tonumber(r.maxRetries) + 1
  if attempt > most or (hasRun and attempt == 0) then broken('state', 'has an invalid number of attempts: ' .. attempt) end
  if not isWaiting and r.updatedAt == '0' then broken('state', 'lacks the time of its last change') end
  -- Only a reschedule to now, which is in the history, removes the time of a run of a schedule.
  if hasLabel(r.tags) and not r.scheduledFor and not has(r, 'h') then broken('scheduledFor') end
  for _, field in ipairs(NEEDS[status] or {}) do if not r[field] then broken(field) end end
  for _, field in ipairs(LACKS[status] or {}) do if r[field] then broken(field, 'must be absent, because the job is ' .. status) end end
  if status == 'completed' and redis.call('HEXISTS', r.key, 'result') == 0 then broken('result') end
end
