-- Take the state of a record apart. Return whether it is valid.
local function unpackState(r)
  r.status, r.order, r.attempt, r.takeBacks, r.seq, r.updatedAt, r.maxRetries, r.timeoutSeconds, r.flags =
    string.match(r.state, '^(%l+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+)$')
  return r.status ~= nil
end
