-- KEYS first
-- ARGV isOfOne used
-- REPLY OK replies?...
--
-- Carry out the verbs of several calls, in order. What one of them throws does not stop the others.
--   first    base of the first call, for the cluster
--   isOfOne  see beginBatch; '' for no
--   used     the verbs, with blanks in between
--   ARGV     after it, for each verb: its name, the number of its arguments, and these. `@`, base and space come before the
--            first verb of another place; `+`, `notAfter` and their number before the verbs of a call that has several. With
--            a negative number, none is carried out after one that was refused: it has the same reply
--   replies  for each verb: the number of values of its reply, and these; a list of lists would cost 5,000 instructions more
--            for each. TOO_LATE, or ERROR and the text of an error, may be in place of its own
local verbs, replies, at = {}, { 'OK' }, 3 -- scripts/lua/module.mjs puts the verbs that are used here
local REFUSED = { IDEMPOTENCY_MISMATCH = true, SPACE_FULL = true, STORAGE_FULL = true, ERROR = true }
-- Redis refuses the first write only, so it is asked before. Once something was removed, a full Redis lets the rest pass.
if isMemoryFull(first) then redis.call('ZREM', first .. 'none', '') end
beginBatch(isOfOne ~= '')

local base, space, left, stops, isLate, isDone, reply = first, '', 0, false, false, true, nil
while ARGV[at] do
  if ARGV[at] == '@' then
    base, space, at = ARGV[at + 1], ARGV[at + 2], at + 3
  elseif ARGV[at] == '+' then
    left, stops, isLate, reply = math.abs(ARGV[at + 2]), tonumber(ARGV[at + 2]) < 0, isTooLate(nowText, ARGV[at + 1]), nil
    at = at + 3
  else
    local last, from = at + 1 + numberOf(ARGV[at + 1]), #replies + 1
    if left > 0 and isLate then
      reply = { 'TOO_LATE' }
    elseif left <= 0 or not (stops and reply and REFUSED[reply[1]]) then
      isDone, reply = pcall(verbs[ARGV[at]], base, space, unpack(ARGV, at + 2, last))
      if not isDone then reply = { 'ERROR', type(reply) == 'table' and reply.err or reply } end
    end
    replies[from], left, at = #reply, left - 1, last + 1
    for i = 1, #reply do replies[from + i] = reply[i] end
  end
end
endBatch()
return replies
