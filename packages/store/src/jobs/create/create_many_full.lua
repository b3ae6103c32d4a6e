-- KEYS queue
-- ARGV base space notAfter eventsPerJob maxPending jobs...
-- REPLY OK outcomes
-- ERRORS TOO_LATE
-- WITH collected later
--
-- Create jobs of one space with any options, in order, each as create_full.lua does, until one is refused. Index entries
-- and messages are written together at the end. A full Redis refuses the first write: nothing is stored then.
--   maxPending  of the settings of the space; '' for no limit
--   jobs      of each job: id, name, fingerprint, delay, options, number of the values that follow: names and values of
--             fields; see create_full.lua
--   outcomes  a line for each job: its order, with a `+` after that of a scheduled job; or `<outcome> <id> <status>
--             <order>` for one that existed, and its status before if it was replaced; or IDEMPOTENCY_MISMATCH or
--             SPACE_FULL, which is the last line
if isTooLate(now(), notAfter) then return { 'TOO_LATE' } end
later.isWritten = true -- The first write is an HSET, which a full Redis refuses. So no removal has to come first.
local outcomes = {}
-- Pending jobs are counted once, and not for each job. '0' makes create_full.lua refuse.
local room = maxPending ~= '' and maxPending - redis.call('ZCARD', base .. 'space:' .. space .. '/status/pending') or math.huge

local function createAll()
  local i, outcome = 1, nil
  while jobs[i] and outcome ~= 'IDEMPOTENCY_MISMATCH' and outcome ~= 'SPACE_FULL' do
    local id, name, fingerprint, delay, options, count = unpack(jobs, i, i + 5)
    local last = i + 5 + count
    local reply = createFullScript(base .. 'job:' .. id, base, id, space, name, '', fingerprint, eventsPerJob, 'state',
      'state', room > 0 and '' or '0', delay, options, { unpack(jobs, i + 6, last) })
    outcome = reply[1]
    if outcome == 'CREATED' then
      if reply[3] == '' then room = room - 1 end
      outcome = reply[2] .. (reply[3] ~= '' and '+' or '')
    elseif outcome == 'REPLAYED' then
      outcome = 'REPLAYED ' .. id .. ' ' .. string.match(reply[2][1], '^%S+ %S+')
    elseif outcome ~= 'IDEMPOTENCY_MISMATCH' and outcome ~= 'SPACE_FULL' then -- RETURNED, or REPLACED with the status before
      outcome = outcome .. ' ' .. reply[2] .. ' ' .. string.match(reply[3][1], '^%S+ %S+') .. ' ' .. (reply[4] or '')
    end
    outcomes[#outcomes + 1] = outcome
    i = last + 1
  end
end

local ok, failure = pcall(createAll)
writeLater() -- after a failure, too: jobs that are stored must stand in the indexes
publishCollected(base, space)
if not ok then return failureReply(failure) end
return { 'OK', table.concat(outcomes, '\n') }
