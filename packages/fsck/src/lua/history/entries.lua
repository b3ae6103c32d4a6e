local function typeOf(entry)
  return string.match(entry, '^%["([%l_]+)",%d+[,%]]') or 'none'
end

-- Events that can be the first in the list. An ack or a release is not, because it needs a delivery.
local FIRST = { ready = true, rescheduled = true, requeued = true, replaced = true, delivered = true, dead = true, killed = true }

-- Return the status that a job has after an event; '' for one that changes none, nil for one that is not valid. After
-- some events a job may be scheduled, and then the event's own data say until when. In a text of a user quotation marks
-- are escaped, and an error is not the last part of the data.
local function statusAfter(entry)
  local statuses = STATUS_AFTER[typeOf(entry)]
  if not statuses or not string.find(statuses, 'scheduled', 1, true) then return statuses and string.match(statuses, '^%l*') end
  local isScheduled = string.find(entry, '"scheduledFor":"[^"]+"}%]$') or string.find(entry, '^%["rescheduled",%d+,{"scheduledFor":"')
  return isScheduled and 'scheduled' or 'pending'
end
