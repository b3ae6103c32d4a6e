-- KEYS queue
-- ARGV base space actions count deliveryTimeoutMs isAcked ackWithinMs workerId eventsPerJob retentionMs random notAfter nameCount inputs...
-- REPLY OK values?...
-- REPLY MORE values?...
-- ERRORS TOO_LATE
-- WITH collected later
--
-- Do what turn.lua does, for many jobs: entries of sorted sets are written together at the end.
local ok, reply = pcall(turnScript, queue, base, space, actions, count, deliveryTimeoutMs, isAcked, ackWithinMs, workerId, eventsPerJob, retentionMs,
  random, notAfter, nameCount, inputs)
writeLater() -- after a failure, too: what was done must stand in the indexes
return ok and reply or failureReply(reply)
