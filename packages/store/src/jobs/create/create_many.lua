-- KEYS queue
-- ARGV base space notAfter isKeyed jobs...
-- REPLY OK outcomes
-- ERRORS TOO_LATE
--
-- Create pending jobs of one space, in order, each as create.lua does, until one is refused. Index entries are written
-- together, so that a job costs 40% of a single create. A full Redis refuses the first write: nothing is stored then.
--   isKeyed   '1' when the ids are made from an idempotency key, '' otherwise
--   jobs      of each job: id, name, options, see addJob, number of values; names and values of fields, the first
--             `fingerprint` if isKeyed
--   outcomes  a line for each: its order; `REPLAYED <id> <status> <order>` for one that exists; or IDEMPOTENCY_MISMATCH, last
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
local prefix, order = base .. 'space:' .. space .. '/', nil
local outcomes, names, entries, entriesOf = {}, {}, {}, {}

local function replayed(jobKey, id, fingerprint)
  local v = redis.call('HMGET', jobKey, 'state', 'fingerprint')
  if not v[1] then return nil end
  if v[2] ~= fingerprint then return 'IDEMPOTENCY_MISMATCH' end
  return 'REPLAYED ' .. id .. ' ' .. string.match(v[1], '^%S+ %S+')
end

local function createOne(jobKey, id, name, options, first, last)
  order = order and formatInteger(order + 1) or nextOrder(base, space, nowMs * 1024 + math.floor(micros % 1000 * 1.024))
  local state = 'pending ' .. order .. ' 0 0 1 0 ' .. options
  redis.call('HSET', jobKey, 'state', state, 'space', space, 'name', name, unpack(jobs, first, last))
  local ofName = entriesOf[name] or {}
  entriesOf[name] = ofName
  entries[#entries + 1], entries[#entries + 2], names[#names + 1] = order, id, name
  ofName[#ofName + 1], ofName[#ofName + 2] = order, id
  return order
end

local function createAll()
  local i, outcome = 1, nil
  while jobs[i] and outcome ~= 'IDEMPOTENCY_MISMATCH' do
    local id, name, options, first, last = jobs[i], jobs[i + 1], jobs[i + 2], i + 4, i + 3 + jobs[i + 3]
    local jobKey = base .. 'job:' .. id
    outcome = isKeyed ~= '' and replayed(jobKey, id, jobs[first + 1]) or createOne(jobKey, id, name, options, first, last)
    outcomes[#outcomes + 1] = outcome
    i = last + 1
  end
end

local ok, failure = pcall(createAll)
if entries[1] then -- after a failure, too: jobs that are stored must stand in the indexes
  redis.call('ZADD', base .. 'spaces', order, space)
  for _, index in ipairs({ prefix .. 'jobs', prefix .. 'status/pending', queue }) do redis.call('ZADD', index, unpack(entries)) end
  for name, ofName in pairs(entriesOf) do
    redis.call('ZADD', queue .. '/' .. name, unpack(ofName))
    redis.call('ZINCRBY', prefix .. 'names', #ofName / 2, name)
    wakeForEach({ base = base, space = space, name = name }, #ofName / 2)
  end
  publishCreations(base, space, names, entries)
end
if not ok then return failureReply(failure) end
return { 'OK', table.concat(outcomes, '\n') }
