import { z } from 'zod';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import { boundedArray, exactObject, name, spaceId, timestamp } from './schema/fields.js';
import { instant } from './schema/response-fields.js';
import { REQUESTED_SCOPES, SCOPES, scopesOf } from './scopes.js';

const scope = z.enum(REQUESTED_SCOPES, { error: `must be one of ${REQUESTED_SCOPES.join(', ')}` });

const keyScopes = boundedArray(scope, {
  max: LIMITS.keyScopes,
  what: 'scopes',
  error: 'must be an array of scopes',
})
  .refine((scopes) => scopes.length > 0, { error: 'must have at least one scope' })
  .transform(scopesOf);

/**
 * Body of Create Key (our addition, contract §5). Unlike elsewhere, an unknown field is refused, because a misspelt
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
  spaceId: spaceId.nullable().default(null).describe('The one space the key works in; null for every space'),
  expiresAt: timestamp
    .nullable()
    .default(null)
    .describe('Time from which the key is refused; must be in the future, with a capital `T` and `Z`; null for never'),
})
  // A key that is bound to a space and may create keys could create one for every other space.
  .refine((key) => key.spaceId === null || !key.scopes.includes('keys:manage'), {
    path: ['scopes'],
    error: 'must not contain keys:manage when the key is bound to a space',
  })
  .meta({
    if: { properties: { spaceId: { type: 'string' } }, required: ['spaceId'] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { properties: { scopes: { not: { contains: { const: 'keys:manage' } } } } },
  })
  .meta({ id: 'CreateKey' });
export type CreateKeyRequest = z.output<typeof createKeyRequest>;

/** An API key without its secret. */
export const apiKey = z
  .object({
    id: z.string().describe('Middle part of `ym_<id>_<secret>`'),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    spaceId: z.string().nullable().describe('The one space the key works in; null for every space'),
    expiresAt: instant.nullable().describe('Null when it never expires'),
    createdAt: instant,
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.output<typeof apiKey>;

/** Response of List Keys. */
export const apiKeyList = z.array(apiKey).meta({ id: 'ApiKeyList' });

/** Response of Create Key: the only response that contains the key itself. */
export const createdApiKey = z
  .object({
    ...apiKey.shape,
    key: z.string().describe('`ym_<id>_<secret>`, with a secret of 256 random bits; no other response contains it'),
  })
  .meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.output<typeof createdApiKey>;
