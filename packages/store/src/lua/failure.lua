-- Return the error reply for a failure that pcall has caught. Some failures are tables, others are text.
local function failureReply(failure)
  return type(failure) == 'table' and failure or { err = failure }
end
