-- KEYS job
-- ARGV keySpaceId
--
-- Read a job with its history, as of one moment.
-- Returns {'OK', {field, value, …}, {event, …}}; JOB_NOT_FOUND or FORBIDDEN.
local space = redis.call('HGET', job, 'space')
if not space then return { 'JOB_NOT_FOUND' } end
if keySpaceId ~= '' and keySpaceId ~= space then return { 'FORBIDDEN' } end
return { 'OK', redis.call('HGETALL', job), redis.call('LRANGE', job .. ':events', 0, -1) }
