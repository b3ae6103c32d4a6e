import {
  apiKeyList,
  auditPage,
  auditQuery,
  callbackSecretList,
  callbackSecrets,
  createdApiKey,
  createKeyRequest,
  listKeysQuery,
  type OwnApiKey,
  ownApiKey,
  revokeKeyQuery,
  rotateKeyRequest,
  SCOPES,
} from '@yardmaster/protocol';
import { ADMIN_KEY_ID, createKey, listActs, listKeys, type Principal, readOwnKey, type Store } from '@yardmaster/store';
import { Reply } from '../call.js';
import { json, query } from '../input/input.js';
import { ACT, API_KEY, CALLBACK_SECRET, NEXT_SECRET, SECRET, SPACE_ID } from './examples.js';
import { nextPageHeaders } from './next-page.js';
import { ANY_KEY, DONE, type Route, route } from './route.js';

/** Return the fields of the caller's key. ADMIN_API_KEY isn't stored. */
const ownKeyOf = (store: Store, { keyId, name }: Principal): Promise<OwnApiKey> | OwnApiKey =>
  keyId === ADMIN_KEY_ID
    ? { id: keyId, name, scopes: [...SCOPES], spaceId: null, expiresAt: null, createdAt: null }
    : readOwnKey(store, keyId);

/** Endpoints for administrators: API keys, callback secrets and the audit log. */
export const KEYS: readonly Route[] = [
  route({
    operation: 'createKey',
    method: 'POST',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    audit: 'key.create',
    tag: 'Keys',
    summary: 'Create an API key',
    description:
      "The key is shown only in this response; the service stores just a hash. If your own key is bound to a space, you can create keys only for that space, with scopes, an expiry and limits that don't exceed your own. Calls with a key also count against the limits of the key that created it.",
    input: json(createKeyRequest, {
      examples: {
        'For the workers of a space': { name: 'resizers', scopes: ['jobs:worker'], spaceId: SPACE_ID },
        'For a producer, with an expiration': {
          name: 'shop',
          scopes: ['jobs:create', 'jobs:read'],
          expiresAt: '2027-01-01T00:00:00+01:00',
        },
        'With limits': { name: 'nightly', scopes: ['jobs:create'], limits: { perSecond: 20, burst: 100 } },
      },
    }),
    success: {
      status: 201,
      schema: createdApiKey,
      examples: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${SECRET}` } },
      link: { parameter: 'keyId', from: '/id' },
    },
    refusals: ['TOO_MANY_KEYS', 'STORAGE_FULL'],
    async handler({ store, caller, input }) {
      const created = await createKey(store, input, caller);
      const { id: keyId, name, scopes, spaceId, expiresAt, limits } = created;
      const details = { keyId, name, scopes, expiresAt, ...(limits && { limits }) };
      return new Reply(created, { act: { spaceId, details } });
    },
  }),
  route({
    operation: 'listKeys',
    method: 'GET',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    audit: 'key.list',
    tag: 'Keys',
    summary: 'List the API keys',
    description:
      'Newest first, without secrets. If your own key is bound to a space, you get only the keys of that space. If there are more keys, the response has the headers `x-next-cursor` and `Link`.',
    input: query(listKeysQuery),
    success: { schema: apiKeyList, examples: { 'One key': [API_KEY] }, isPaged: true },
    async handler({ store, caller, input }) {
      const { keys, nextCursor } = await listKeys(store, caller, input);
      return nextCursor === null ? keys : new Reply(keys, { headers: nextPageHeaders(nextCursor, input.limit) });
    },
  }),
  route({
    operation: 'getOwnKey',
    method: 'GET',
    path: '/api/v1/keys/self',
    scopes: ANY_KEY,
    tag: 'Keys',
    summary: 'Get your own API key',
    description: 'Returns the API key that makes the call, without its secret.',
    success: { schema: ownApiKey, examples: { 'A key': API_KEY } },
    handler: async ({ store, caller }) => ownKeyOf(store, caller),
  }),
  route({
    operation: 'rotateKey',
    method: 'POST',
    path: '/api/v1/keys/:keyId/rotate',
    scopes: ['keys:manage'],
    audit: 'key.rotate',
    tag: 'Keys',
    summary: 'Rotate an API key',
    description:
      'Gives a key a new secret. Its ID and fields stay the same, and the new key is shown only in this response. The old secret keeps working until the overlap ends; then streams opened with it are closed. Secrets from before an earlier rotation stop working immediately.',
    input: json(rotateKeyRequest, {
      examples: {
        'Accept both secrets for an hour': { overlapSeconds: 3600 },
        'Replace a leaked secret': { overlapSeconds: 0 },
      },
    }),
    success: { schema: createdApiKey, examples: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${NEXT_SECRET}` } } },
    async handler({ deps, caller, id: keyId, input }) {
      const rotated = await deps.authenticator.rotate(keyId, input, caller);
      const act = { spaceId: rotated.spaceId, details: { keyId, name: rotated.name, ...input } };
      return new Reply(rotated, { act });
    },
  }),
  route({
    operation: 'revokeKey',
    method: 'DELETE',
    path: '/api/v1/keys/:keyId',
    scopes: ['keys:manage'],
    audit: 'key.revoke',
    tag: 'Keys',
    summary: 'Revoke an API key',
    description:
      'Within a second, every process refuses the key, and its streams are closed. The keys that were created with it, directly or indirectly, are revoked as well unless you set `keepChildren`.',
    input: query(revokeKeyQuery),
    success: DONE,
    async handler({ deps, caller, id: keyId, input: { keepChildren } }) {
      const { key, ids } = await deps.authenticator.revoke(keyId, caller, keepChildren);
      const children = ids.length - 1;
      const details = { keyId, ...(key && { name: key.name }), ...(children > 0 && { children }) };
      const act = { spaceId: key?.spaceId ?? null, details: { ...details, ...(keepChildren && { keepChildren }) } };
      return new Reply({ success: true as const }, { act });
    },
  }),
  route({
    operation: 'listAuditEntries',
    method: 'GET',
    path: '/api/v1/audit',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'List the audit entries',
    description:
      'Actions of administrators and operators, and refused access, newest first. Repeated actions are combined into one entry with a count. If your key is bound to a space, you get only the entries of that space, and pages may be short.',
    input: query(auditQuery),
    success: { schema: auditPage, examples: { 'One entry': { entries: [ACT], nextCursor: null } } },
    handler: ({ store, caller, input }) => listActs(store, caller, input),
  }),
  route({
    operation: 'getCallbackSecrets',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/callback-secret',
    scopes: ['keys:manage'],
    audit: 'secret.read',
    tag: 'Keys',
    summary: 'Get the callback secrets of a space',
    description:
      'Receivers use these secrets to verify callbacks of the space, as in Standard Webhooks. A valid signature with any of them is enough; there are several only while `CALLBACK_SIGNING_SECRET` is being rotated.',
    slot: 'none',
    success: {
      schema: callbackSecretList,
      examples: { 'One secret': { secrets: [CALLBACK_SECRET] }, 'Callbacks are not signed': { secrets: [] } },
    },
    handler: async ({ deps, spaceId }) => ({ secrets: callbackSecrets(deps.callbackMasters(), spaceId) }),
  }),
];
