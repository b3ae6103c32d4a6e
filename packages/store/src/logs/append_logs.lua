-- KEYS base
-- ARGV jobId space entries...
-- REPLY OK lastSeq:number
-- ERRORS JOB_NOT_FOUND FORBIDDEN SPACE_FULL
--
-- Append a batch of log entries to a job in any status. This is not a heartbeat: the window and the state do not change.
--   entries   results of packLog: JSON arrays without `[` and the time of storage; at most 5,000
local job, refusal = openJob(base, space, jobId)
if refusal then return refusal end

local isCounted = job.flags ~= '-' and string.find(job.flags, 'b', 1, true)
if isCounted then
  if isSpaceFull(job) then return { 'SPACE_FULL', 'bytes' } end
end

local _, nowText = now()
local opening = '[' .. nowText
for i = 1, #entries do entries[i] = opening .. entries[i] end
local logs = job.key .. ':logs'
local dropped = tonumber(redis.call('HGET', job.key, 'logsDropped') or 0)
-- This is the first write, and a single command, so a full Redis refuses the whole batch.
local length = redis.call('RPUSH', logs, unpack(entries))
local last = dropped + length
local excess = math.max(0, length - LOGS_PER_JOB)
if excess > 0 then redis.call('LTRIM', logs, excess, -1) end
if last % 16 < #entries then
  excess = excess + dropOldest(logs, LOG_BYTES_PER_JOB)
end
if excess > 0 then redis.call('HSET', job.key, 'logsDropped', formatInteger(dropped + excess)) end
if isCounted and (last % 16 < #entries or #table.concat(entries) > 512) then
  countBytes(job)
end

if isWatched(base) then
  local data = '{"fromSeq":' .. formatInteger(last - #entries + 1) .. ',"toSeq":' .. formatInteger(last) .. ',"count":' .. #entries .. '}'
  publish(job, 'null', 'logs_appended', job.status, nowText, data)
end
return { 'OK', last }
