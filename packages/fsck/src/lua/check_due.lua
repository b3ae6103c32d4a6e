-- Check the entry of a job in `due`: when the job becomes claimable, or when its start limit ends. A delivered job can still have
-- the entry from when it was pending, because only its ack or a sweep removes it.
local function checkDue(found, r, base)
  local due, limit = base .. 'due', startLimit(r)
  local function mustBeAt(ms)
    mustBeIn(found, due, r.id, formatInteger(ms))
  end
  if r.status == 'scheduled' then return mustBeAt(math.min(tonumber(r.scheduledFor), limit or math.huge)) end
  if r.status == 'pending' and limit then return mustBeAt(limit) end
  if r.status == 'delivered' and limit and scoreIn(due, r.id) then return mustBeAt(limit) end
  local why = r.status == 'pending' and ' and has no start limit' or ''
  mustNotBeIn(found, due, r.id, 'the job is ' .. r.status .. why)
end
