import type { Body, Operation } from '../checker/history.js';

/** Bodies of calls, each with a text unique to the call. */
export const BODIES: Partial<Record<Operation, (token: string) => Body>> = {
  progress: (token) => ({ percent: 50, message: token }),
  checkpoint: (token) => ({ token }),
  event: (token) => ({ token }),
  logs: (token) => [1, 2, 3].map((n) => `${token} ${n}/3`),
  complete: (token) => ({ result: { token } }),
  fail: (token) => ({ error: token }),
  release: (token) => ({ reason: token }),
  reschedule: () => ({ delaySeconds: 3_600 }),
  kill: (token) => ({ reason: token }),
};
