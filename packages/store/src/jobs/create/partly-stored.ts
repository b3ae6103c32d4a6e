import { type ErrorCode, YardmasterError } from '@yardmaster/protocol';

/** What happened to a call that stored only some of its jobs, by the code of the error that ended it. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  STORAGE_FULL: 'Storage is full',
  UNAVAILABLE: 'Storage did not respond',
  OVERLOADED: 'Server is busy',
  SPACE_FULL: 'Space has as many pending jobs as its settings allow',
};

/**
 * Return the error of a call that created or found only its first jobs.
 *
 * @param stored how many; with 0 the error stays as it is
 * @param isKeyed whether the call has an idempotency key
 */
export function partlyStored(error: unknown, stored: number, isKeyed: boolean): unknown {
  if (stored === 0 || !(error instanceof YardmasterError)) return error;
  const { cause } = error;
  const options = cause === undefined ? {} : { cause };
  const reason = REASONS[error.code];
  if (reason === undefined) return new YardmasterError(error.code, error.message, { ...error.extras, stored }, options);
  // OVERLOADED means that nothing was done.
  const code = error.code === 'OVERLOADED' ? 'UNAVAILABLE' : error.code;
  const isUnknown = error.code === 'UNAVAILABLE' ? ', and the outcome of the others is unknown' : '';
  const next = isKeyed
    ? 'send the same request again with the same Idempotency-Key'
    : 'send only the others again, or use an Idempotency-Key';
  return new YardmasterError(
    code,
    `${reason}; ${stored === 1 ? 'the first job is' : `the first ${stored} jobs are`} stored${isUnknown}; ${next}`,
    { stored },
    options,
  );
}
