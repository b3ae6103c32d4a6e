-- Subtract a job from the sum of its space. Return the key of the sums and the round; the round is false in a space whose bytes
-- are not counted.
local function uncountBytes(job)
  local sums = job.base .. 'space:' .. job.space .. '/bytes'
  local round = redis.call('HGET', sums, 'round')
  local of, bytes = string.match(redis.call('HGET', job.key, 'bytes') or '', '^(%d+) (%d+)$')
  if round and of then redis.call('HINCRBY', sums, of == round and 'sum' or 'rest', '-' .. bytes) end
  return sums, round
end

-- Estimate the bytes of a job's entries in the indexes. Keys and entries contain its name and each of its tags.
local function indexBytes(name, tags)
  local bytes = 500 + 2 * #name
  for tag in string.gmatch(tags or '', '[^\n]+') do bytes = bytes + 250 + 2 * #tag end
  return bytes
end

-- Measure a job and return its bytes: record, history, logs and entries in the indexes. Callers do this when they have stored
-- more than 512 bytes, and heartbeats do it with every sixteenth entry of the history; a recount finds the rest. To measure a
-- list, Redis visits each of its nodes: 8 to 15 µs for 32 MB.
local function countBytes(job)
  local sums, round = uncountBytes(job)
  if not round then return 0 end
  local bytes = indexBytes(job.name, redis.call('HGET', job.key, 'tags'))
  for _, part in ipairs({ '', ':events', ':logs' }) do
    bytes = bytes + (redis.call('MEMORY', 'USAGE', job.key .. part, 'SAMPLES', '0') or 0)
  end
  redis.call('HSET', job.key, 'bytes', round .. ' ' .. formatInteger(bytes))
  redis.call('HINCRBY', sums, 'sum', formatInteger(bytes))
  return bytes
end
