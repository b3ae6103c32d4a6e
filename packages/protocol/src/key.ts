import { z } from 'zod';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import {
  boundedArray,
  exactObject,
  integerBetween,
  name,
  numberBetween,
  queryCursor,
  queryFlag,
  queryInteger,
  spaceId,
  timestamp,
  withDefault,
} from './schema/fields.js';
import { instant } from './schema/response-fields.js';
import { REQUESTED_SCOPES, SCOPES, scopesOf } from './scopes.js';

const scope = z.enum(REQUESTED_SCOPES, { error: `must be one of ${REQUESTED_SCOPES.join(', ')}` });

const keyScopes = boundedArray(scope, {
  ...{ min: 1, max: LIMITS.keyScopes, what: 'scopes', error: 'must be an array of scopes' },
}).transform(scopesOf);

/** How many calls a key may make, in each process of the API: a bucket of `burst` calls that is refilled all the time. */
const keyLimits = exactObject({
  perSecond: numberBetween(LIMITS.keyPerSecondMin, LIMITS.keyPerSecondMax).describe('Calls per second, on average'),
  burst: integerBetween(1, LIMITS.keyBurstMax).describe('Calls that it may make at once after a pause'),
}).meta({ id: 'KeyLimits' });
export type KeyLimits = z.output<typeof keyLimits>;

/**
 * Body of Create Key. Unlike elsewhere, an unknown field is refused, because a misspelt
 * `spaceId` would create a key for every space.
 */
export const createKeyRequest = exactObject({
  name,
  scopes: describeAs(
    keyScopes,
    z
      .array(z.enum(REQUESTED_SCOPES))
      .min(1)
      .max(LIMITS.keyScopes)
      .describe(
        '`jobs:write` stands for jobs:ack, jobs:progress, jobs:event, jobs:complete and jobs:fail, which the key has then',
      ),
  ),
  spaceId: spaceId
    .nullable()
    .default(null)
    .describe(
      'The one space the key works in; null for every space, or for that of the caller, if its key is bound to one',
    ),
  expiresAt: timestamp
    .nullable()
    .default(null)
    .describe('Time from which the key is refused; must be in the future; null for never'),
  limits: keyLimits.nullable().default(null).describe('How many calls it may make; null for no limit'),
}).meta({ id: 'CreateKey' });
export type CreateKeyRequest = z.output<typeof createKeyRequest>;

/** Form of the id of an API key. */
export const KEY_ID_FORM = '[a-z0-9]{1,32}';

/** Query of List Keys. */
export const listKeysQuery = z.object({
  limit: queryInteger(1, LIMITS.listMax)
    .default(LIMITS.listDefault)
    .describe(`Keys in a page; above ${LIMITS.listMax} is served as ${LIMITS.listMax}`),
  cursor: queryCursor(new RegExp(`^${KEY_ID_FORM}$`))
    .optional()
    .describe('`x-next-cursor` of the response before: the page that follows it'),
});
export type ListKeysQuery = z.output<typeof listKeysQuery>;

/** Query of Revoke Key. */
export const revokeKeyQuery = z.object({
  keepChildren: queryFlag.default(false).describe('Whether the keys that it made stay valid'),
});

/** Body of Rotate Key. An unknown field is refused, because a misspelt `overlapSeconds` would keep a leaked secret valid. */
export const rotateKeyRequest = exactObject({
  overlapSeconds: withDefault(numberBetween(0, LIMITS.overlapSecondsMax), LIMITS.overlapSecondsDefault).describe(
    'How long the present secret is accepted beside the new one; 86 400 by default; 0 refuses it at once',
  ),
}).meta({ id: 'RotateKey' });
export type RotateKeyRequest = z.output<typeof rotateKeyRequest>;

const created = {
  id: z.string().describe('Middle part of `ym_<id>_<secret>`'),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  spaceId: z.string().nullable().describe('The one space the key works in; null for every space'),
  expiresAt: instant.nullable().describe('Null when it never expires'),
  createdAt: instant,
  limits: keyLimits.optional().describe('How many calls it may make; absent without a limit'),
  createdBy: z.string().optional().describe('Id of the key that made it; absent for `ADMIN_API_KEY`'),
};

const lastUsedAt = instant.optional().describe('Time of its last use, at most 60 s behind; absent before the first');

/** An API key without its secret. */
export const apiKey = z.object({ ...created, lastUsedAt }).meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof apiKey>;

/** Response of List Keys. */
export const apiKeyList = z.array(apiKey).meta({ id: 'ApiKeyList' });

/** Response of Get Own Key. ADMIN_API_KEY is not stored, so it has no times. */
export const ownApiKey = z
  .object({
    ...created,
    createdAt: instant.nullable().describe('Null for the key of `ADMIN_API_KEY`, whose id is `admin`'),
    lastUsedAt: lastUsedAt.describe(
      'Time of its last use, at most 60 s behind; absent before the first, and always for the key of `ADMIN_API_KEY`',
    ),
  })
  .meta({ id: 'OwnApiKey' });
export type OwnApiKey = z.output<typeof ownApiKey>;

/** Response of Create Key and of Rotate Key: the only responses that contain the key itself. */
export const createdApiKey = z
  .object({
    ...created,
    key: z.string().describe('`ym_<id>_<secret>`, with a secret of 256 random bits; no other response contains it'),
  })
  .meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.output<typeof createdApiKey>;
