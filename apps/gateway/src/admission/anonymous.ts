import { isJobId, YardmasterError } from '@yardmaster/protocol';
import { partitionOfJob, type Store } from '@yardmaster/store';

/** Decides whether job streams may be opened without a token. The setting of a space wins over that of the process. */
export interface AnonymousRule {
  /** Whether a job may be in a space that allows it, as far as its id says. */
  mayBeAnonymous(jobId: string): boolean;
  /** Whether a space allows it. */
  isAllowedIn(spaceId: string): boolean;
  /**
   * Return the error of a stream without a token that could not be prepared. Where the process allows none, a client
   * must not learn whether a job exists.
   */
  hidden(error: unknown): unknown;
}

/** @param ofProcess ANONYMOUS_STREAMS */
export function createAnonymousRule({ known: { spaces } }: Pick<Store, 'known'>, ofProcess: boolean): AnonymousRule {
  return {
    mayBeAnonymous: (jobId) =>
      ofProcess || (isJobId(jobId) && spaces.isOnIn(partitionOfJob(jobId), 'anonymousStreams')),
    isAllowedIn: (spaceId) => spaces.of(spaceId)?.anonymousStreams ?? ofProcess,
    hidden: (error) =>
      !ofProcess && error instanceof YardmasterError && error.code === 'JOB_NOT_FOUND'
        ? new YardmasterError('UNAUTHENTICATED')
        : error,
  };
}
