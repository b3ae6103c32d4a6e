import { historyQuery, spaceHistory, spaceList, spaceStats, spacesQuery, statsQuery } from '@yardmaster/protocol';
import { getHistory, getStats, listSpaces } from '@yardmaster/store';
import { SPACE_HISTORY, SPACES, STATS } from './examples.js';
import { type Route, route } from './route.js';

/** Endpoints of clients that read what is in spaces, and what has happened there. */
export const SPACE_READING: readonly Route[] = [
  route({
    operation: 'listSpaces',
    method: 'GET',
    path: '/api/v1/spaces',
    scopes: ['jobs:read'],
    isLong: true,
    tag: 'Reading',
    summary: 'List the spaces',
    description:
      'Spaces that have jobs, and how many. A key that is bound to a space gets only that one. The order does not change while jobs come and go.',
    query: spacesQuery,
    response: spaceList,
    examples: { response: { 'Two spaces, and more of them': SPACES } },
    handler: ({ store, caller, input }) => listSpaces(store, caller, input),
  }),
  route({
    operation: 'getStats',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/stats',
    scopes: ['jobs:read'],
    tag: 'Reading',
    summary: 'Count the jobs of a space',
    description: 'By status and by name, all at one moment. All counts are zero for a space without jobs.',
    query: statsQuery,
    response: spaceStats,
    examples: { response: { 'Two names': STATS } },
    handler: ({ store, spaceId, input }) => getStats(store, spaceId, input),
  }),
  route({
    operation: 'getHistory',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/stats/history',
    scopes: ['jobs:read'],
    isLong: true,
    tag: 'Reading',
    summary: 'Get what happened in a space',
    description:
      'How many jobs were created, completed, retried and so on, and how long they waited and ran, by minute or by hour and by name. Processes add their counts every 5 seconds, so the newest are missing.',
    query: historyQuery,
    response: spaceHistory,
    examples: { response: { 'One minute': SPACE_HISTORY } },
    handler: ({ store, caller, spaceId, input }) => getHistory(store, caller, spaceId, input),
  }),
];
