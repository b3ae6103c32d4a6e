import {
  getJobQuery,
  historyQuery,
  isTerminal,
  type JobWithEvents,
  jobList,
  jobWithEvents,
  latestProgress,
  listJobsQuery,
  NO_EVENTS,
  spaceHistory,
  spaceList,
  spaceStats,
  spacesQuery,
  statsQuery,
  streamToken,
  streamTokenRequest,
} from '@yardmaster/protocol';
import { authorize } from '@yardmaster/server';
import {
  getHistory,
  getJob,
  getProgress,
  getStats,
  isoOf,
  isSearch,
  listJobs,
  listSpaces,
  NAMES_AT_ONCE,
  redisNow,
} from '@yardmaster/store';
import { Reply } from '../call.js';
import { json, query } from '../input/input.js';
import { PER_JOB, PER_NAME, SEARCH } from '../limits/units.js';
import { LongPoll } from '../waiting/long-poll.js';
import { mayWait } from './create.js';
import {
  COMPLETED,
  EVENTS,
  JOB_ID,
  LISTED,
  PROGRESS,
  REPORTED,
  SPACE_HISTORY,
  SPACE_ID,
  SPACES,
  STATS,
  STREAM_TOKEN,
} from './examples.js';
import { listParameters, nextPageHeaders } from './next-page.js';
import { type Route, route } from './route.js';

/** Endpoints for clients that read jobs and spaces, or that issue stream tokens. */
export const READING: readonly Route[] = [
  route({
    operation: 'getJob',
    method: 'GET',
    path: '/api/v1/jobs/:jobId',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'Get a job',
    description:
      "Returns a job with its history. With `waitSeconds`, the call first waits for the job to end. If you don't need the history, omit it with `events=0`. To page through it, use `eventsAfter` and `eventsLimit`: continue after the `seq` of the last event until a page is empty.",
    input: query(getJobQuery, mayWait),
    slot: 'long',
    success: {
      schema: jobWithEvents,
      examples: { 'A completed job': { ...COMPLETED, events: EVENTS }, 'With `events=0`': COMPLETED },
    },
    refusals: ['TOO_MANY_WAITERS'],
    async handler(call) {
      const { store, caller, id, input } = call;
      const { waitSeconds, range } = input;
      const shown = ({ events, ...job }: JobWithEvents) => (range === NO_EVENTS ? job : { ...job, events });
      const job = await getJob(store, caller, id, range);
      if (waitSeconds === 0 || isTerminal(job.status)) return shown(job);
      return new Reply(shown(job), {
        wait: () => new LongPoll(call, waitSeconds).forEnd(id, { range, hasEnded: false }).then(shown),
      });
    },
  }),
  route({
    operation: 'getProgress',
    method: 'GET',
    path: '/api/v1/jobs/:jobId/progress',
    scopes: ['jobs:read:progress', 'jobs:read'],
    tag: 'Reading',
    summary: 'Get the progress of a job',
    description: 'Returns the latest progress report of any attempt, and nothing else about the job.',
    success: {
      schema: latestProgress,
      examples: {
        'With progress': { jobId: JOB_ID, progress: PROGRESS, timestamp: REPORTED },
        'Before the first report': { jobId: JOB_ID, progress: null, timestamp: null },
      },
    },
    handler: ({ store, caller, id: jobId }) => getProgress(store, caller, jobId),
  }),
  route({
    operation: 'listJobs',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/jobs',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'List the jobs of a space',
    description:
      'Newest first, without callbacks and histories; empty for a space without jobs. Filters are combined with AND. If there are more jobs, the response has the headers `x-next-cursor` and `Link`. The next page continues exactly where this one ended, even if jobs are created or deleted in between. Pages filtered by `name`, `tag` or `q` can be short or even empty; keep going until there is no next cursor.',
    input: query(listJobsQuery),
    slot: 'long',
    units: { before: ({ filter, limit }) => (isSearch(filter) ? SEARCH : 0) + PER_JOB.listed * limit },
    success: { schema: jobList, examples: { 'One job': [LISTED], 'No job': [] }, isPaged: true },
    async handler({ store, caller, spaceId, input }) {
      const { jobs, nextCursor } = await listJobs(store, caller, spaceId, input);
      if (nextCursor === null) return jobs;
      return new Reply(jobs, { headers: nextPageHeaders(nextCursor, input.limit, listParameters(input)) });
    },
  }),
  route({
    operation: 'listSpaces',
    method: 'GET',
    path: '/api/v1/spaces',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'List the spaces',
    description:
      'Returns the spaces that have jobs, with counts by status, in a stable order. If your key is bound to a space, you get only that space.',
    input: query(spacesQuery),
    slot: 'long',
    success: { schema: spaceList, examples: { 'Two spaces, with more to come': SPACES } },
    handler: ({ store, caller, input }) => listSpaces(store, caller, input),
  }),
  route({
    operation: 'getStats',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/stats',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'Get the statistics of a space',
    description:
      'Counts the jobs of a space by status and by name, in one snapshot; names beyond the first 100 are counted milliseconds later. All counts are 0 for a space without jobs.',
    input: query(statsQuery),
    slot: 'long',
    units: {
      before: ({ names, limit }) => PER_NAME * (names.length > 0 ? names.length : Math.min(limit, NAMES_AT_ONCE)),
    },
    success: { schema: spaceStats, examples: { 'Two names': STATS } },
    handler: ({ store, caller, spaceId, input }) => getStats(store, caller, spaceId, input),
  }),
  route({
    operation: 'getHistory',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/stats/history',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'Get the history of a space',
    description:
      'Counts by name how many jobs were created, completed, retried and so on, and how long they waited and ran, in each minute or hour. Processes flush their counts every 5 seconds, so the most recent ones are missing.',
    input: query(historyQuery),
    slot: 'long',
    success: { schema: spaceHistory, examples: { 'One minute': SPACE_HISTORY } },
    handler: ({ store, caller, spaceId, input }) => getHistory(store, caller, spaceId, input),
  }),
  route({
    operation: 'createStreamToken',
    method: 'POST',
    path: '/api/v1/stream-tokens',
    scopes: ['jobs:read:progress', 'jobs:read'],
    audit: 'token.create',
    tag: 'Reading',
    summary: 'Create a stream token',
    description:
      'Creates a short-lived token for web pages and other clients that must not have an API key. It opens certain streams and nothing else, and stops working early if the API key or its secret does. Unknown fields are refused.',
    input: json(streamTokenRequest, {
      examples: {
        'The progress of one job': { scope: 'jobs:read:progress', jobIds: [JOB_ID] },
        'Everything in a space, for a day': { scope: 'jobs:read', spaceId: SPACE_ID, expiresInSeconds: 86_400 },
        'The jobs of a customer': { scope: 'jobs:read:progress', tag: 'customer-7' },
      },
    }),
    success: { status: 201, schema: streamToken, examples: { 'Stream token': STREAM_TOKEN } },
    async handler({ store, deps, caller, input }) {
      const { expiresInSeconds, ...asked } = input;
      authorize(caller, [asked.scope], asked.spaceId ?? undefined);
      const end = (await redisNow(store)) + expiresInSeconds * 1_000;
      const expiresAt = caller.expiresAt === null ? end : Math.min(end, Date.parse(caller.expiresAt));
      const token = await deps.authenticator.createStreamToken(caller, { ...asked, expiresAt });
      const { scope, jobIds, tag, spaceId } = asked;
      const details = {
        scope,
        ...(jobIds && { jobs: jobIds.length }),
        ...(tag && { tag }),
        expiresAt: isoOf(expiresAt),
      };
      const act = { spaceId: caller.spaceId ?? spaceId, details };
      return new Reply({ token, expiresAt: isoOf(expiresAt) }, { act });
    },
  }),
];
