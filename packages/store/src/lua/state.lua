-- The state of a job is a single field of its record, because reading and splitting one field costs Redis a third of reading
-- eight fields:
--
--   <status> <order> <attempt> <returns> <seq> <updatedAt> <maxRetries> <timeoutSeconds> <flags> <space> <name>
--
--   order       creation order
--   attempt     number of attempts started since the creation or the last requeue
--   returns     number of delivery timeouts, releases and requeues; see attempt/delivery.lua
--   seq         seq of the newest event
--   updatedAt   epoch ms; 0 if the job has not changed since its creation
--   flags       `-`, and a letter for each option that the record has: `u` unique, `c` callbackUrl, `t` tags, `p` priority,
--               `s` startWithinSeconds, `m` maxRunSeconds, `r` retry, `k` checkpoint, `d` deliveryTimeouts, `b` bytes; and `h`
--               if the history has a list
--   name        comes last, because it may contain blanks

-- Pattern of a state. It captures the parts in this order.
local STATE = '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (%S+) (.+)$'

-- Return the space and the name in a state; nil when the state is absent or invalid.
local function spaceAndName(state)
  return select(10, string.match(state or '', STATE))
end

-- Format the state of a job that changes at this time.
local function stateOf(job, status, at)
  return status .. ' ' .. job.order .. ' ' .. job.attempt .. ' ' .. job.returns .. ' ' .. job.seq .. ' ' .. at .. ' ' .. job.maxRetries
    .. ' ' .. job.timeoutSeconds .. ' ' .. job.flags .. ' ' .. job.space .. ' ' .. job.name
end
