-- Decide about a worker's call by its delivery token. Return its reply, or nil when the call continues as one without a
-- token. A killed job refuses every call in its own words.
--   doneIn    status in which the current delivery has made this call already; nil for a call that may be repeated
local function replyToToken(job, token, doneIn)
  if job.status == 'killed' or job.status == 'pending' or job.status == 'scheduled' then return nil end
  if deliveryOf(job, token) ~= 'current' then return { 'DELIVERY_LOST', job.status } end
  if job.status == doneIn then return { 'UNCHANGED' } end
  if job.status == 'completed' or job.status == 'dead' then return { 'JOB_NOT_RUNNING', job.status } end
end

-- Decide by its delivery token about a fail or a release, with which a worker gives its job up. A worker that has lost
-- the job already may make the call as well: nothing changes, whichever worker has the job now.
local function replyToGivingUp(job, token)
  if job.status == 'killed' then return nil end
  local delivery = deliveryOf(job, token)
  if delivery == 'unknown' then return { 'DELIVERY_LOST', job.status } end
  if delivery == 'over' or job.status == 'dead' then return { 'UNCHANGED' } end
end
