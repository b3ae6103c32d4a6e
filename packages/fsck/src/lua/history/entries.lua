-- Return the type of an event; 'none' for an invalid entry.
local function typeOf(entry)
  return string.match(entry, '^%["([%l_]+)",%d+[,%]]') or 'none'
end

-- Events that can be the first in the list. An ack or a release cannot, because it needs a delivery.
local FIRST = { ready = true, rescheduled = true, requeued = true, replaced = true, delivered = true, dead = true, killed = true }

-- Return the status of a job after an event; '' if the event changes none, nil if it is invalid. After some events a job can be
-- scheduled; the data of the event then contains the time. Text from users cannot be mistaken for it, because its quotation
-- marks are escaped, and an error is not the last part of the data.
local function statusAfter(entry)
  local statuses = STATUS_AFTER[typeOf(entry)]
  if not statuses or not string.find(statuses, 'scheduled', 1, true) then return statuses and string.match(statuses, '^%l*') end
  local isScheduled = string.find(entry, '"scheduledFor":"[^"]+"}%]$') or string.find(entry, '^%["rescheduled",%d+,{"scheduledFor":"')
  return isScheduled and 'scheduled' or 'pending'
end
