-- The state of a job is one field of its record, because reading one field and taking it apart costs Redis a third of
-- reading eight fields:
--
--   <status> <order> <attempt> <returns> <seq> <updatedAt> <maxRetries> <timeoutSeconds> <flags> <space> <name>
--
--   order       place by creation
--   attempt     attempts started; those before a requeue do not count
--   returns   delivery timeouts, releases and requeues so far, see attempt/delivery.lua
--   seq         of the newest event
--   updatedAt   epoch ms; 0 for a job that is as it was created
--   flags       `-`, and a letter for each option that the record has: `u` unique, `c` callbackUrl, `t` tags, `p` priority,
--               `s` startWithinSeconds, `m` maxRunSeconds, `r` retry, `k` checkpoint, `d` deliveryTimeouts, `b` bytes; and `h`
--               when the history has a list
--   name        last, because it may contain blanks

-- Matches the parts of a state, in this order.
local STATE = '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (%S+) (.+)$'

-- Return the space and the name in a state; nil when it is absent or not valid.
local function spaceAndName(state)
  return select(10, string.match(state or '', STATE))
end

-- Return the state of a job that has changed at this time.
local function stateOf(job, status, at)
  return status .. ' ' .. job.order .. ' ' .. job.attempt .. ' ' .. job.returns .. ' ' .. job.seq .. ' ' .. at .. ' ' .. job.maxRetries
    .. ' ' .. job.timeoutSeconds .. ' ' .. job.flags .. ' ' .. job.space .. ' ' .. job.name
end
