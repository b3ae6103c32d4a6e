-- KEYS jobKey
-- ARGV base jobId space name notAfter fields...
-- REPLY OK order
-- ERRORS TOO_LATE
--
-- Create a pending job at the end of its space's queues. Redis refuses it when memory is full.
--   base      'ym:{pp}:', the partition that every key below shares
--   notAfter  see isTooLate
--   fields    further fields of the record, name and value in turn; those that have their default value are left out
--   order     place of the job in its space; floor(order / 1024) is the creation time in ms
local nowMs, _, micros = now()
if isTooLate(nowMs, notAfter) then return { 'TOO_LATE' } end
return { 'OK', addJob({ key = jobKey, base = base, id = jobId, space = space, name = name }, nowMs, micros, fields) }
