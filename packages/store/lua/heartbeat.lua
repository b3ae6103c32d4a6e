-- KEYS job
-- ARGV base jobId keySpaceId kind data eventsPerJob
--
-- A sign of life of a running job: the execution window opens again, and what came with it is kept.
--   kind    progress, checkpoint, event or keepalive
--   data    JSON text; not used for keepalive
-- Returns {'OK'}; {'JOB_KILLED', status}, {'JOB_NOT_RUNNING', status}; JOB_NOT_FOUND or FORBIDDEN.
-- @include clock job publish record window
local found = loadJob(job, base, jobId)
local refusal = refuse(found, keySpaceId)
if refusal then return { refusal } end
if found.status == 'killed' then return { 'JOB_KILLED', 'killed' } end
if found.status ~= 'running' then return { 'JOB_NOT_RUNNING', found.status } end

local now = nowMs()
if kind == 'keepalive' then
  -- The ZREM lets the rest pass when memory is full: a full Redis must not time out work that is alive.
  redis.call('ZREM', base .. 'deadlines', jobId)
  openWindow(found, now)
  redis.call('HSET', job, 'updatedAt', digits(now))
  return { 'OK' }
end

openWindow(found, now)
if kind == 'progress' then
  record(found, now, kind, 'running', data, eventsPerJob, 'progress', data, 'progressAt', digits(now))
elseif kind == 'checkpoint' then
  record(found, now, kind, 'running', data, eventsPerJob, 'checkpoint', data)
else
  record(found, now, kind, 'running', data, eventsPerJob)
end
return { 'OK' }
