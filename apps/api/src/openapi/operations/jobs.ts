import type { Operation } from '../operation.js';
import { PENDING } from '../samples.js';
import { DONE } from './done.js';

/** Operations of producers and operators. */
export const JOBS = {
  createJob: {
    tag: 'Jobs',
    summary: 'Create a job',
    description: 'Puts a job at the end of the queue of its space. A space exists as soon as a job is created in it.',
    refusals: ['STORAGE_FULL', 'STORAGE_UNSAFE'],
    request: {
      'Nothing but a name': { name: 'resize' },
      'With a payload and a callback': {
        name: 'resize',
        payload: PENDING.payload,
        maxRetries: 3,
        timeoutSeconds: 300,
        callbackUrl: PENDING.callbackUrl,
        callbackHeaders: PENDING.callbackHeaders,
      },
    },
    response: { 'The job': PENDING },
    yields: { parameter: 'jobId', at: '/id' },
  },
  killJob: {
    tag: 'Jobs',
    summary: 'Kill a job',
    description: 'Stops a job for good, whoever is working on it. Killing a killed job again succeeds.',
    trigger: 'kill',
    request: { 'With a reason': { reason: 'The customer has cancelled' }, 'Without one': {} },
    response: DONE,
  },
  redeliverCallback: {
    tag: 'Jobs',
    summary: 'Send the callback of a job again',
    description: 'Of a completed or dead job. It is sent now, with all its retries ahead.',
    refusals: ['JOB_NOT_ENDED', 'NO_CALLBACK', 'STORAGE_FULL'],
    response: DONE,
  },
} as const satisfies Record<string, Operation>;
