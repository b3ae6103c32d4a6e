import { z } from 'zod';
import { jobIdFilter } from '../find.js';
import { LIMITS } from '../limits.js';
import { boundedArray, exactObject, integerBetween, spaceId, tag, withDefault } from '../schema/fields.js';
import { instant } from '../schema/response-fields.js';

/** Prefix of every stream token. No API key has it. */
export const STREAM_TOKEN_PREFIX = 'ymst_';

/** Scopes that a stream token may have. */
const STREAM_SCOPES = ['jobs:read', 'jobs:read:progress'] as const;

const SUBJECTS = ['jobIds', 'tag', 'spaceId'] as const;

/** Body of Create Stream Token. Unknown fields are refused, because a misspelled one may be meant to restrict the token. */
export const streamTokenRequest = exactObject({
  scope: z
    .enum(STREAM_SCOPES, { error: `must be one of ${STREAM_SCOPES.join(', ')}` })
    .describe('What the token shows: everything (`jobs:read`) or only the progress of jobs (`jobs:read:progress`)'),
  jobIds: boundedArray(jobIdFilter, {
    ...{ min: 1, max: LIMITS.streamTokenJobs, what: 'jobIds', error: 'must be an array of strings' },
  })
    .nullable()
    .default(null)
    .describe('IDs of the jobs whose streams the token opens'),
  tag: tag
    .nullable()
    .default(null)
    .describe('Tag of the jobs whose streams the token opens; it also opens space streams, limited to these jobs'),
  spaceId: spaceId
    .nullable()
    .default(null)
    .describe('Space whose stream the token opens, along with the streams of its jobs'),
  expiresInSeconds: withDefault(integerBetween(60, 86_400), 900).describe('Number of seconds the token is valid'),
})
  .superRefine((request, ctx) => {
    const given = SUBJECTS.filter((name) => request[name] !== null);
    if (given.length === 1) return;
    const message = given.length === 0 ? 'or tag or spaceId is required' : `cannot be combined with ${given[0]}`;
    ctx.addIssue({ code: 'custom', message, path: [given[1] ?? 'jobIds'] });
  })
  .meta({ id: 'StreamTokenRequest', description: 'Exactly one of `jobIds`, `tag` and `spaceId` is required' });
export type StreamTokenRequest = z.output<typeof streamTokenRequest>;

/** Response of Create Stream Token. */
export const streamToken = z
  .object({
    token: z.string().describe('The token; send it in the query parameter `token` of a stream'),
    expiresAt: instant.describe('When the token expires, no later than the API key'),
  })
  .meta({ id: 'StreamToken' });
export type StreamToken = z.output<typeof streamToken>;
