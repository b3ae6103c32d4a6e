import type { Call } from '../checker/history.js';
import type { Caller } from './client.js';
import type { Request } from './request.js';

/** Collects calls about jobs of one space to send them together. */
export interface Batch {
  /** Make a call: with others if settle supports it, otherwise alone. */
  call: Caller;
  /** Take the waiting calls: their requests, and a function that resolves them. */
  take(): { requests: Request[]; resolve(calls: readonly Call[]): void };
}

const MOST_OUTCOMES = 50; // Maximum per poll.

/** Create a batch. @param single makes the calls that settle does not support */
export function createBatch(spaceId: string, single: Caller): Batch {
  const waiting: { request: Request; done: (call: Call) => void }[] = [];
  return {
    call: (request) =>
      request.op === 'logs'
        ? single(request)
        : new Promise((done) => waiting.push({ request: { ...request, spaceId }, done })),
    take() {
      const some = waiting.splice(0, MOST_OUTCOMES);
      return {
        requests: some.map(({ request }) => request),
        resolve: (calls) => {
          for (const [i, { done }] of some.entries()) done(calls[i] as Call);
        },
      };
    },
  };
}
