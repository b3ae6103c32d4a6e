-- Return the entries that the history of a job without a list has. Those of a job that was delivered, acked and
-- completed, with nothing in between, follow from its record. They are written only once something else happens.
local function impliedEntries(key, status)
  if status ~= 'delivered' and status ~= 'running' and status ~= 'completed' then return {} end
  local v = redis.call('HMGET', key, 'deliveredAt', 'startedAt', 'updatedAt')
  for i = 1, 3 do v[i] = stored(v[i]) or '0' end -- a damaged record must not stop its job; fsck reports it
  local delivered = '["delivered",' .. v[1] .. ']'
  if status == 'delivered' then return { delivered } end
  local acked = '["acked",' .. v[2] .. ']'
  if status == 'running' then return { delivered, acked } end
  return { delivered, acked, '["completed",' .. v[3] .. ']' }
end
