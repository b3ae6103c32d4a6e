import { z } from 'zod';
import { jobIdFilter } from '../find.js';
import { LIMITS } from '../limits.js';
import { boundedArray, exactObject, integerBetween, spaceId, tag, withDefault } from '../schema/fields.js';
import { instant } from '../schema/response-fields.js';

/** The first characters of every stream token, and of no API key. */
export const STREAM_TOKEN_PREFIX = 'ymst_';

/** Scopes that a stream token may have. */
const STREAM_SCOPES = ['jobs:read', 'jobs:read:progress'] as const;

const SUBJECTS = ['jobIds', 'tag', 'spaceId'] as const;
const ONE_SUBJECT = `exactly one of ${SUBJECTS.join(', ')} is required`;

/**
 * Body of Create Stream Token. An unknown field is refused, because a misspelt one may have been meant to
 * restrict the token.
 */
export const streamTokenRequest = exactObject({
  scope: z
    .enum(STREAM_SCOPES, { error: `must be one of ${STREAM_SCOPES.join(', ')}` })
    .describe('`jobs:read:progress` shows only the progress of jobs'),
  jobIds: boundedArray(jobIdFilter, {
    ...{ min: 1, max: LIMITS.streamTokenJobs, what: 'jobIds', error: 'must be an array of strings' },
  })
    .nullable()
    .default(null)
    .describe('Jobs whose streams it opens'),
  tag: tag
    .nullable()
    .default(null)
    .describe('It opens the streams of jobs with this tag, and those of spaces for these jobs'),
  spaceId: spaceId.nullable().default(null).describe('Space whose stream it opens, and the streams of whose jobs'),
  expiresInSeconds: withDefault(integerBetween(60, 86_400), 900).describe('How long it is valid; default 900'),
})
  .superRefine((request, ctx) => {
    const given = SUBJECTS.filter((name) => request[name] !== null);
    if (given.length !== 1) ctx.addIssue({ code: 'custom', message: ONE_SUBJECT, path: [given[1] ?? 'jobIds'] });
  })
  .meta({ id: 'StreamTokenRequest', description: 'Exactly one of `jobIds`, `tag` and `spaceId` is required' });
export type StreamTokenRequest = z.output<typeof streamTokenRequest>;

/** Response of Create Stream Token. */
export const streamToken = z
  .object({
    token: z.string().describe('To be sent as `?token=` of a stream'),
    expiresAt: instant.describe('When it expires: at the latest when the API key does'),
  })
  .meta({ id: 'StreamToken' });
export type StreamToken = z.output<typeof streamToken>;
