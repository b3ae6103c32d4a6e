import { type ErrorCode, YardmasterError } from '@yardmaster/protocol';

/** Error codes of a Redis that is reachable but can't serve: it is starting, failing over, or busy with a script. */
const BUSY_REPLIES =
  /^(LOADING|BUSY|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|UNBLOCKED|ASK|MOVED|EXECABORT)$/;

/**
 * Return the error code of an error reply, its first word. Redis 6.2 wraps the reply to a script's command:
 * `ERR Error running script (call to f_…): @user_script:13: @user_script: 13: -OOM command not allowed …`.
 */
function replyWord(message: string): string {
  const wrapped = /^ERR Error running script .*?: -([A-Z]+)\b/.exec(message)?.[1];
  return wrapped ?? /^-?([A-Z]+)\b/.exec(message)?.[1] ?? '';
}

/** Messages of ioredis for a missing reply. It has no codes for these errors. */
const NO_RESPONSE =
  /^(Command timed out|Connection is closed|Stream isn't writeable|Reached the max retries per request limit|Socket timeout|connect |read |write |getaddrinfo |All sentinels are unreachable|Failed to refresh slots cache|Cluster is|None of startup nodes|Too many Cluster redirections)/;

function codeOf(error: Error): ErrorCode | null {
  const system = (error as NodeJS.ErrnoException).code;
  const word = replyWord(error.message);
  if (word === 'OOM') return 'STORAGE_FULL';
  if (BUSY_REPLIES.test(word) || NO_RESPONSE.test(error.message)) return 'UNAVAILABLE';
  if (error.name === 'MaxRetriesPerRequestError' || error.name === 'AbortError') return 'UNAVAILABLE';
  if (system !== undefined && /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|ENOENT|EAI_)/.test(system))
    return 'UNAVAILABLE';
  return null;
}

/** Return whether an error means that Redis can't serve, and that the outcome of the call is unknown. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof YardmasterError && error.code === 'UNAVAILABLE';

/**
 * Convert the error of a Redis call into an error that the caller can act on.
 *
 * @returns UNAVAILABLE if there was no reply (the outcome is unknown), STORAGE_FULL if Redis refused a write for lack of
 *   memory (nothing was stored), otherwise the error itself, which is a bug
 */
export function fromRedisError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error);
  return code === null ? error : new YardmasterError(code, undefined, {}, { cause: error });
}

/** Wait for a Redis call that isn't a script, and convert its errors. */
export async function withRedisErrors<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw fromRedisError(error);
  }
}
