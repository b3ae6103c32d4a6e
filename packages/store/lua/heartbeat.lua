-- KEYS job
-- ARGV base jobId keySpaceId kind data eventsPerJob
--
-- A sign of life of a running job: the execution window opens again, and what came with it is kept.
--   kind    progress, checkpoint, event or keepalive
--   data    JSON text; not used for keepalive
-- Returns {'OK'}; {'JOB_KILLED', status}, {'JOB_NOT_RUNNING', status}; JOB_NOT_FOUND or FORBIDDEN; STORAGE_FULL when
-- the window is open again but what came with the sign of life could not be kept.
-- @include clock job implied publish record window
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

local now, at = nowMs()
-- A full Redis refuses the first write, and must not time out work that is alive: the ZREM lets the rest pass.
local refused = redis.pcall('HSET', job, 'updatedAt', at)
local isFull = type(refused) == 'table' and refused.err ~= nil
redis.call('ZREM', base .. 'deadlines', jobId)
openWindow(found, now)
if kind == 'keepalive' then return { 'OK' } end
if isFull then return { 'STORAGE_FULL' } end

if kind == 'progress' then
  record(found, at, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', at)
elseif kind == 'checkpoint' then
  record(found, at, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  record(found, at, kind, 'running', data, eventsPerJob)
end
return { 'OK' }
