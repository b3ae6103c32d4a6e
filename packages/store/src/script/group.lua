-- KEYS first
-- ARGV isOfOne used
-- REPLY OK replies?...
--
-- Run the verbs of several calls, in order. A failed verb does not stop the others, unless its call stops at a refusal.
--   first    base of the first call, which determines the cluster node
--   isOfOne  see beginBatch; '' for no
--   used     names of the verbs in the group, separated by blanks
--   ARGV     then, for each verb: its name, the number of its arguments, and the arguments. `@ <base> <space>` precedes the first
--            verb of each space; `+ <notAfter> <count>` precedes the verbs of a call that has several. A negative count means that
--            the first refusal is the reply to all following verbs of the call
--   replies  for each verb: the number of values in its reply, and the values; a list of lists would cost 5,000 instructions
--            more per verb. Instead of its own reply, a verb can have TOO_LATE, or ERROR and a text
local verbs, replies, at = {}, { 'OK' }, 3 -- the build (scripts/lua/module.mjs) fills `verbs`
local REFUSED = { IDEMPOTENCY_MISMATCH = true, SPACE_FULL = true, STORAGE_FULL = true, ERROR = true }
-- A full Redis refuses only the first write of a script, so check before it. After a ZREM, even of nothing, it accepts all others.
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
