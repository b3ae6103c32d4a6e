import { isTerminal, jobList, jobWithEvents, latestProgress, listJobsQuery } from '@yardmaster/protocol';
import { getJob, getProgress, listJobs } from '@yardmaster/store';
import { nextPageHeaders } from '../next-page.js';
import { COMPLETED, EVENTS, JOB_ID, LISTED, PROGRESS, REPORTED } from './examples.js';
import { type Route, route } from './route.js';

/** Endpoints of clients that read jobs. */
export const READING: readonly Route[] = [
  route({
    operation: 'getJob',
    method: 'GET',
    path: '/api/v1/jobs/:jobId',
    scopes: ['jobs:read'],
    isLong: true,
    tag: 'Reading',
    summary: 'Get a job with its history',
    description: 'With `waitSeconds`, the call waits for the end of a job that has not ended.',
    waitSecondsIn: 'query',
    response: jobWithEvents,
    examples: { response: { 'A completed job': { ...COMPLETED, events: EVENTS } } },
    handler: ({ store, caller, jobId }) => getJob(store, caller, jobId),
    wait: ({ jobId }, { status }, waits) => (isTerminal(status) ? null : waits.forEnd(jobId, false)),
  }),
  route({
    operation: 'getProgress',
    method: 'GET',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:read:progress', 'jobs:read'],
    tag: 'Reading',
    summary: 'Get the progress of a job',
    description: 'The latest report of any attempt, and no other field of the job.',
    response: latestProgress,
    examples: {
      response: {
        Reported: { jobId: JOB_ID, progress: PROGRESS, timestamp: REPORTED },
        'Not reported yet': { jobId: JOB_ID, progress: null, timestamp: null },
      },
    },
    handler: ({ store, caller, jobId }) => getProgress(store, caller, jobId),
  }),
  route({
    operation: 'listJobs',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:read'],
    isLong: true,
    tag: 'Reading',
    summary: 'List the jobs of a space',
    description:
      'Newest first, without callbacks and histories. Empty for a space without jobs. While there are more jobs, the response has the headers `x-next-cursor` and `Link`; the next page begins where this one ended, whatever jobs come and go in between. A page of `name`, `tag` or `q` may be short or empty and still have a next one.',
    query: listJobsQuery,
    response: jobList,
    examples: { response: { 'One job': [LISTED], 'No job': [] } },
    isPaged: true,
    async handler(call) {
      const { jobs, nextCursor } = await listJobs(call.store, call.caller, call.spaceId, call.input);
      if (nextCursor !== null) call.head = { headers: nextPageHeaders(call.input, nextCursor) };
      return jobs;
    },
  }),
];
