-- KEYS queue
-- ARGV base space actions count deliveryTimeoutMs isAcked ackWithinMs workerId eventsPerJob retentionMs random notAfter nameCount inputs...
-- REPLY OK values?...
-- REPLY MORE values?...
-- ERRORS TOO_LATE
-- WITH collected
--
-- Settle jobs of one space, in order, and then poll it. Messages are published together at the end.
--   actions   scripts of the items, with blanks in between; only their functions are declared
--   count     jobs to claim, 0 to 50; the arguments after it are those of poll.lua
--   random    see retryDelayMs; '' without an item that fails
--   inputs    `nameCount` names of jobs, see poll.lua; then items of six values each: job id, delivery token, action and
--             its three arguments
--   values    for each item the reply of the script for its action, one that begins with OK as text without it, which costs
--             less than a list; then the jobs, see appendClaimed
--   MORE      see poll.lua
if isTooLate(now(), notAfter) then return { 'TOO_LATE' } end
local settle = {}
if string.find(actions, 'ack', 1, true) then
  function settle.ack(key, id, token) return ackScript(key, base, id, space, token, eventsPerJob) end
end
if string.find(actions, 'heartbeat', 1, true) then
  isMemoryFull(base) -- before the first write
  function settle.heartbeat(key, id, token, kind, data) return heartbeatScript(key, base, id, space, token, kind, data, eventsPerJob) end
end
if string.find(actions, 'complete', 1, true) then
  function settle.complete(key, id, token, result) return completeScript(key, base, id, space, token, result, eventsPerJob, retentionMs) end
end
if string.find(actions, 'fail', 1, true) then
  function settle.fail(key, id, token, errorJson, isRetryable, retryAfterMs)
    random = spread(random, 1) -- Each job gets another number.
    return failScript(key, base, id, space, token, errorJson, isRetryable, retryAfterMs, random, eventsPerJob, retentionMs)
  end
end
if string.find(actions, 'release', 1, true) then
  function settle.release(key, id, token, reason, delay) return releaseScript(key, base, id, space, token, reason, delay, eventsPerJob, retentionMs) end
end
local values, names = {}, { unpack(inputs, 1, nameCount) }
for i = nameCount + 1, #inputs, 6 do
  local id, token, action, a, b, c = unpack(inputs, i, i + 5)
  local ok, outcome = pcall(settle[action], base .. 'job:' .. id, id, token, a, b, c)
  if not ok then outcome = { 'UNAVAILABLE' } end -- The record is not valid. That must not stop the others.
  values[#values + 1] = outcome[1] == 'OK' and table.concat(outcome, ' ', 2) or outcome
end
local outcome = 'OK'
if count ~= '0' then
  local ok, jobs = pcall(pollScript, queue, base, count, deliveryTimeoutMs, eventsPerJob, '', isAcked, ackWithinMs, workerId, names)
  if not ok then
    publishCollected(base, space) -- The outcomes are stored.
    return failureReply(jobs)
  end
  outcome = jobs[1]
  for i = 2, #jobs do values[#values + 1] = jobs[i] end
end
publishCollected(base, space)
return { outcome, unpack(values) }
