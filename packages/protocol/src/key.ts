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

/** Rate limit of a key in each API process: a token bucket of `burst` calls that refills at `perSecond`. */
const keyLimits = exactObject({
  perSecond: numberBetween(LIMITS.keyPerSecondMin, LIMITS.keyPerSecondMax).describe('Average calls per second'),
  burst: integerBetween(1, LIMITS.keyBurstMax).describe('Maximum number of calls at once, after an idle period'),
}).meta({ id: 'KeyLimits' });
export type KeyLimits = z.output<typeof keyLimits>;

/** Body of Create Key. Unknown fields are refused, because a misspelled `spaceId` would create a key that works everywhere. */
export const createKeyRequest = exactObject({
  name,
  scopes: describeAs(
    keyScopes,
    z
      .array(z.enum(REQUESTED_SCOPES))
      .min(1)
      .max(LIMITS.keyScopes)
      .describe(
        'Scopes of the key. `jobs:write` is shorthand for `jobs:ack`, `jobs:progress`, `jobs:event`, `jobs:complete` and `jobs:fail`',
      ),
  ),
  spaceId: spaceId
    .nullable()
    .default(null)
    .describe(
      'Space to bind the key to; null for no space; if your own key is bound to a space, null means that space',
    ),
  expiresAt: timestamp.nullable().default(null).describe('When the key expires, a time in the future; null for never'),
  limits: keyLimits.nullable().default(null).describe('Rate limit of the key; null for no limit'),
}).meta({ id: 'CreateKey' });
export type CreateKeyRequest = z.output<typeof createKeyRequest>;

/** Format of the ID of an API key, as a regular expression. */
export const KEY_ID_FORM = '[a-z0-9]{1,32}';

/** Query of List Keys. */
export const listKeysQuery = z.object({
  limit: queryInteger(1, LIMITS.listMax)
    .default(LIMITS.listDefault)
    .describe(`Maximum number of keys per page; values above ${LIMITS.listMax} are capped at ${LIMITS.listMax}`),
  cursor: queryCursor(new RegExp(`^${KEY_ID_FORM}$`))
    .optional()
    .describe('The `x-next-cursor` of the previous page'),
});
export type ListKeysQuery = z.output<typeof listKeysQuery>;

/** Query of Revoke Key. */
export const revokeKeyQuery = z.object({
  keepChildren: queryFlag.default(false).describe('Whether the keys that were created with it stay valid'),
});

/** Body of Rotate Key. Unknown fields are refused: a misspelled `overlapSeconds` would keep a leaked secret valid. */
export const rotateKeyRequest = exactObject({
  overlapSeconds: withDefault(numberBetween(0, LIMITS.overlapSecondsMax), LIMITS.overlapSecondsDefault).describe(
    'Number of seconds that the old secret keeps working; 0 revokes it immediately',
  ),
}).meta({ id: 'RotateKey' });
export type RotateKeyRequest = z.output<typeof rotateKeyRequest>;

const created = {
  id: z.string().describe('ID of the key, which is also the middle part of `ym_<id>_<secret>`'),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  spaceId: z.string().nullable().describe('Space the key is bound to; null if it works in every space'),
  expiresAt: instant.nullable().describe('When the key expires; null for never'),
  createdAt: instant,
  limits: keyLimits.optional().describe('Rate limit of the key; absent without one'),
  createdBy: z.string().optional().describe('ID of the key that created this one; absent if that was `ADMIN_API_KEY`'),
};

const LAST_USED = 'When the key was last used, up to 60 seconds behind; absent before the first use';
const lastUsedAt = instant.optional().describe(LAST_USED);

/** An API key without its secret. */
export const apiKey = z.object({ ...created, lastUsedAt }).meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof apiKey>;

/** Response of List Keys. */
export const apiKeyList = z.array(apiKey).meta({ id: 'ApiKeyList' });

/** Response of Get Own Key. ADMIN_API_KEY isn't stored, so it has no timestamps. */
export const ownApiKey = z
  .object({
    ...created,
    createdAt: instant.nullable().describe('Null for `ADMIN_API_KEY`, whose ID is `admin`'),
    lastUsedAt: lastUsedAt.describe(`${LAST_USED}, and always for \`ADMIN_API_KEY\``),
  })
  .meta({ id: 'OwnApiKey' });
export type OwnApiKey = z.output<typeof ownApiKey>;

/** Response of Create Key and Rotate Key, the only responses that contain the key itself. */
export const createdApiKey = z
  .object({
    ...created,
    key: z
      .string()
      .describe('The key itself, `ym_<id>_<secret>` with a secret of 256 random bits. No other response contains it'),
  })
  .meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.output<typeof createdApiKey>;
