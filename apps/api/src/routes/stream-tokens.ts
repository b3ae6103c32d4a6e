import { streamToken, streamTokenRequest } from '@yardmaster/protocol';
import { authorize } from '@yardmaster/server';
import { isoOf, redisNow } from '@yardmaster/store';
import { JOB_ID, SPACE_ID, STREAM_TOKEN } from './examples.js';
import { type Route, route } from './route.js';

/** The endpoint that gives pages the right to watch. */
export const STREAM_TOKENS: readonly Route[] = [
  route({
    operation: 'createStreamToken',
    method: 'POST',
    path: '/api/v1/stream-tokens',
    scopes: ['jobs:read:progress', 'jobs:read'],
    tag: 'Reading',
    summary: 'Create a stream token',
    description:
      'A token for a page or another client that must not have an API key: it opens some streams, for a short time, and nothing else. It is valid as long as the API key and its secret are. Unknown fields are refused.',
    body: streamTokenRequest,
    status: 201,
    response: streamToken,
    examples: {
      request: {
        'The progress of a job': { scope: 'jobs:read:progress', jobIds: [JOB_ID] },
        'Everything in a space, for a day': { scope: 'jobs:read', spaceId: SPACE_ID, expiresInSeconds: 86_400 },
        'The jobs of a customer': { scope: 'jobs:read:progress', tag: 'customer-7' },
      },
      response: { 'The token': STREAM_TOKEN },
    },
    async handler({ store, authenticator, caller, input }) {
      const { expiresInSeconds, ...asked } = input;
      authorize(caller, [asked.scope], asked.spaceId ?? undefined);
      const end = (await redisNow(store)) + expiresInSeconds * 1_000;
      const expiresAt = caller.expiresAt === null ? end : Math.min(end, Date.parse(caller.expiresAt));
      const token = await authenticator.createStreamToken(caller, { ...asked, expiresAt });
      return { token, expiresAt: isoOf(expiresAt) };
    },
  }),
];
