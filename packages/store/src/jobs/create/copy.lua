-- KEYS base
-- ARGV jobId space copyId payload notAfter names...
-- REPLY OK record[]
-- ERRORS TOO_LATE JOB_NOT_FOUND FORBIDDEN SPACE_FULL
-- REPLICATED
--
-- Create a pending job with the options of another job, at the end of the queue. A full Redis refuses it.
--   payload   JSON text; '' to copy the payload of the other job, 'null' for none
--   names     names of the fields to copy
--   record    record of the copy (name, value, …)
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end
if isTooLate(nowText, notAfter) then return { 'TOO_LATE' } end

local fields, dropped = { 'copyOf', jobId }, '[ukdh]'
local values = redis.call('HMGET', job.key, unpack(names))
for i, name in ipairs(names) do
  local value = values[i]
  if name == 'payload' and payload ~= '' then value = payload ~= 'null' and payload or nil end
  if name == 'tags' and value then
    value = withoutLabels(value)
    if not value then dropped = '[ukdht]' end
  end
  if value then fields[#fields + 1], fields[#fields + 2] = name, value end
end
local options = job.maxRetries .. ' ' .. job.timeoutSeconds .. ' ' .. string.gsub(job.flags, dropped, '')
local settings = settingsText(base, job.space)
local limits = (maxPendingIn(settings) or '') .. (maxBytesIn(settings) and 'b' or '')
local extras = '- ' .. (limits == '' and '-' or limits) .. ' - '
local reply = create(base, job.space, '', copyId, job.name, options, extras, unpack(fields))
if reply[1] ~= 'CREATED' then return reply end
return { 'OK', redis.call('HGETALL', base .. 'job:' .. copyId) }
