-- Return the history of a job that has no list of events. As long as a job is only delivered, acked and completed, its history
-- follows from its record. The entries are written once anything else happens.
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

-- Find an event in the history of a job, or else the oldest one that is left. Return its position in the list (at most the
-- length), its seq, the length of the list and, for a history without a list, the entries. Event 1, `created`, is never stored.
local function placeInHistory(job, fromSeq)
  local implied = not has(job, 'h') and impliedEntries(job)
  local length = implied and #implied or redis.call('LLEN', job.key .. ':events')
  local dropped = job.seq - 1 - length
  local first = math.max(0, tonumber(fromSeq) - 2 - dropped)
  return math.min(first, length), first + 2 + dropped, length, implied
end

-- Append entries to a history, after those implied by the record, and drop the oldest beyond EVENTS_PER_JOB. With every
-- sixteenth entry, also enforce EVENT_BYTES_PER_JOB and set `isMeasured`, which heartbeat.lua reads.
local function appendEntries(job, ...)
  local history, length = job.key .. ':events', nil
  if has(job, 'h') then
    length = redis.call('RPUSH', history, ...)
  else
    local entries = impliedEntries(job)
    for i = 1, select('#', ...) do entries[#entries + 1] = (select(i, ...)) end
    length = redis.call('RPUSH', history, unpack(entries))
    setFlag(job, 'h')
  end
  local excess = length - EVENTS_PER_JOB + 1
  if excess > 0 then redis.call('LTRIM', history, excess, -1) end
  -- Once a list has dropped entries, its length no longer counts them, but the seq does.
  if length > 15 and (excess > 0 and job.seq or length) % 16 < select('#', ...) then
    dropOldest(history, EVENT_BYTES_PER_JOB)
    job.isMeasured = true
  end
end
