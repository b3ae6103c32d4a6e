-- Return the reply to a failure that pcall has caught, as if nothing had caught it. Redis catches its errors as text.
local function failureReply(failure)
  return type(failure) == 'table' and failure or { err = failure }
end
