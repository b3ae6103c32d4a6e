/** Codes with which the service closes a stream (RFC 6455 §7.4.1; 1012 and 1013: IANA's registry). */
export const CLOSE_CODES = {
  /** The job has ended; no more messages follow. */
  ended: 1000,
  /** The process is shutting down; another one takes over. */
  goingAway: 1001,
  /** The API key was revoked or has expired, or no longer allows this stream. */
  keyRevoked: 1008,
  /** The client sent a message of more than 1 KB. */
  tooBig: 1009,
  /** Messages may be missing. */
  interrupted: 1012,
  /** The client reads too slowly. */
  tooSlow: 1013,
  /** The stream token has expired (private code, RFC 6455 §7.4.2). */
  tokenExpired: 4401,
} as const;
