-- Return the reply to a worker's call if its delivery token settles it; nil when the call continues as if it had no token. A
-- killed job refuses every call later, with errors of its own.
--   doneIn    status that this call leads to, to recognize a repeated call; nil for a call that may be repeated
local function replyToToken(job, token, doneIn)
  if job.status == 'killed' or job.status == 'pending' or job.status == 'scheduled' then return nil end
  if deliveryOf(job, token) ~= 'current' then return { 'DELIVERY_LOST', job.status } end
  if job.status == doneIn then return { 'UNCHANGED' } end
  if job.status == 'completed' or job.status == 'dead' then return { 'JOB_NOT_RUNNING', job.status } end
end

-- Return the reply to a fail or a release if its delivery token settles it; nil when the call continues. A worker that has
-- already lost the job may still give it up: nothing changes, whichever worker has the job now.
local function replyToGivingUp(job, token)
  if job.status == 'killed' then return nil end
  local delivery = deliveryOf(job, token)
  if delivery == 'unknown' then return { 'DELIVERY_LOST', job.status } end
  if delivery == 'over' or job.status == 'dead' then return { 'UNCHANGED' } end
end
