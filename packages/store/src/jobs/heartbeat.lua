-- KEYS job
-- ARGV base jobId keySpaceId kind data eventsPerJob
-- REPLY OK
-- ERRORS JOB_KILLED JOB_NOT_RUNNING JOB_NOT_FOUND FORBIDDEN STORAGE_FULL
--
-- Open the execution window of a running job again, and store what its worker reports. STORAGE_FULL: the window is open
-- again, but the report was not stored.
--   kind    progress, checkpoint, event or keepalive
--   data    JSON text; not used for keepalive
local found = loadJob(job, base, jobId)
local refusal = refusalFor(found.status, found.space, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

local nowMs, at = now()
-- A full Redis refuses this first write. It must not time out a job whose worker is alive: reopenWindow passes.
local reply = redis.pcall('HSET', job, 'updatedAt', at)
local isFull = type(reply) == 'table' and reply.err ~= nil
reopenWindow(found, nowMs, executionMs(found))
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
