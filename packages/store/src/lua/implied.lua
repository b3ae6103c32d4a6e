-- Return the entries that the history of a job without a list has. Those of a job that was delivered, acked and
-- completed, with nothing in between, follow from its record. They are written only once something else happens.
local function impliedEntries(job)
  local status = job.status
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', job.key, 'deliveredAt', 'startedAt')
  -- A damaged record must not stop its job; fsck reports it.
  local delivered = '["delivered",' .. (v[1] or '0') .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. (v[2] or '0') .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. job.updatedAt .. ']' }
end
