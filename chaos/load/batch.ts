import type { Call } from '../checker/history.js';
import type { Caller, Request } from './client.js';

/** Calls about jobs of one space that wait until they are sent together. */
export interface Batch {
  /** Make a call: with others if settle has it, otherwise alone. */
  call: Caller;
  /** Take the calls that wait: their requests, and a function that tells what came of each. */
  take(): { requests: Request[]; tell(calls: readonly Call[]): void };
}

const MOST = 50; // That a poll takes.

/** Make a batch. @param single makes the calls that settle does not have */
export function createBatch(spaceId: string, single: Caller): Batch {
  const waiting: { request: Request; done: (call: Call) => void }[] = [];
  return {
    call: (request) =>
      request.op === 'logs'
        ? single(request)
        : new Promise((done) => waiting.push({ request: { ...request, spaceId }, done })),
    take() {
      const some = waiting.splice(0, MOST);
      return {
        requests: some.map(({ request }) => request),
        tell: (calls) => {
          for (const [i, { done }] of some.entries()) done(calls[i] as Call);
        },
      };
    },
  };
}
