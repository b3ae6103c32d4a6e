-- KEYS schedules
-- ARGV base items...
-- REPLY OK results[][]
-- REPLICATED
--
-- Do runs of schedules of one partition: create their jobs, and set their next times. A run is done only once, because it names
-- the time that it does. It creates its job only once, because the ID of the job follows from that time.
--   schedules   see keys.ts
--   items       for each run:
--     space, id, version   the schedule as it was read
--     expected      its next time; '' for a run on demand, which does not change the next time
--     nextAt        next time after this run, '' for none
--     dueAt         when that time fires, epoch ms; '' for none
--     missed, missedAt   number of times that were missed, and the latest of these
--     at            time of the run, epoch ms
--     overlap       `skip`, `allow` or `replace`
--     jobId         ID of its job; '' for none
--     name, options, count, fields…   of the job, as create.lua takes them; `count` is the number of values in `fields`
--   results     for each run: its outcome, reason, ID and status of a job, and if the last job was killed its ID, status and name
--     CREATED, EXISTS   in this run, or in an earlier one
--     REPLACED    the job has this request now, and had this status before
--     SKIPPED     for this reason ('' if missed), which is about this job
--     OVERTAKEN, STORAGE_FULL   it did nothing
--     BROKEN      for this reason; it is postponed by a minute
local results, at = {}, 1
isMemoryFull(base) -- before the first write
while items[at] do
  local run, fields = {}, {}
  run.space, run.id, run.version, run.expected, run.nextAt, run.dueAt, run.missed, run.missedAt = unpack(items, at, at + 7)
  run.at, run.overlap, run.jobId, run.name, run.options = unpack(items, at + 8, at + 12)
  local count = tonumber(items[at + 13])
  for i = 1, count do fields[i] = items[at + 13 + i] end
  at = at + 14 + count
  local isDone, done = pcall(runOnce, base, run, fields)
  if not isDone then
    replaceEntry(schedules, run.space .. '/' .. run.id, formatInteger(nowMs + 60000))
    done = { 'BROKEN', type(done) == 'table' and done.err or done }
  end
  results[#results + 1] = done
end
return { 'OK', results }
