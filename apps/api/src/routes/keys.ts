import {
  apiKeyList,
  auditPage,
  auditQuery,
  callbackSecretList,
  callbackSecrets,
  createdApiKey,
  createKeyRequest,
  doneResponse,
  type OwnApiKey,
  ownApiKey,
  rotateKeyRequest,
  SCOPES,
} from '@yardmaster/protocol';
import { ADMIN_KEY_ID, createKey, listActs, listKeys, type Principal, readOwnKey, type Store } from '@yardmaster/store';
import { ACT, API_KEY, CALLBACK_SECRET, NEXT_SECRET, SECRET, SPACE_ID } from './examples.js';
import { ANY_KEY, DONE, type Route, route } from './route.js';

/** Return the fields of a key that the caller has. ADMIN_API_KEY is not stored. */
const ownKeyOf = (store: Store, { keyId, name }: Principal): Promise<OwnApiKey> | OwnApiKey =>
  keyId === ADMIN_KEY_ID
    ? { id: keyId, name, scopes: [...SCOPES], spaceId: null, expiresAt: null, createdAt: null }
    : readOwnKey(store, keyId);

/** Endpoints for the administration of API keys and callback secrets, and for the audit. */
export const KEYS: readonly Route[] = [
  route({
    operation: 'createKey',
    method: 'POST',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'Create an API key',
    description:
      'Only this response shows the key; the service stores only a hash of it. A caller whose key is bound to a space creates keys only there, with scopes, an expiry and limits that do not exceed its own.',
    audit: 'key.create',
    body: createKeyRequest,
    status: 201,
    response: createdApiKey,
    refusals: ['STORAGE_FULL'],
    examples: {
      request: {
        'For the workers of a space': { name: 'resizers', scopes: ['jobs:worker'], spaceId: SPACE_ID },
        'For a producer, with an expiry': {
          name: 'shop',
          scopes: ['jobs:create', 'jobs:read'],
          expiresAt: '2027-01-01T00:00:00+01:00',
        },
        'With limits': { name: 'nightly', scopes: ['jobs:create'], limits: { perSecond: 20, burst: 100 } },
      },
      response: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${SECRET}` } },
    },
    links: { parameter: 'keyId', from: '/id' },
    async handler(call) {
      const created = await createKey(call.store, call.input, call.caller);
      const { id: keyId, name, scopes, spaceId, expiresAt, limits } = created;
      call.act = { spaceId, details: { keyId, name, scopes, expiresAt, ...(limits && { limits }) } };
      return created;
    },
  }),
  route({
    operation: 'listKeys',
    method: 'GET',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'List the API keys',
    description:
      'Newest first, without their secrets. A caller whose key is bound to a space gets the keys of that space.',
    response: apiKeyList,
    examples: { response: { 'One key': [API_KEY] } },
    handler: ({ store, caller }) => listKeys(store, caller),
  }),
  route({
    operation: 'getOwnKey',
    method: 'GET',
    path: '/api/v1/keys/self',
    scopes: ANY_KEY,
    tag: 'Keys',
    summary: 'Get the API key of the caller',
    description: 'Without its secret.',
    response: ownApiKey,
    examples: { response: { 'A key': API_KEY } },
    handler: async ({ store, caller }) => ownKeyOf(store, caller),
  }),
  route({
    operation: 'rotateKey',
    method: 'POST',
    path: '/api/v1/keys/:keyId/rotate',
    scopes: ['keys:manage'],
    audit: 'key.rotate',
    tag: 'Keys',
    summary: 'Give an API key a new secret',
    description:
      'The key keeps its id and its fields. Only this response shows the new key. The present secret is accepted until the overlap is over; then its streams are closed. A secret from before an earlier rotation is refused at once.',
    body: rotateKeyRequest,
    response: createdApiKey,
    examples: {
      request: {
        'Both secrets for an hour': { overlapSeconds: 3600 },
        'A secret that has leaked': { overlapSeconds: 0 },
      },
      response: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${NEXT_SECRET}` } },
    },
    async handler(call) {
      const { authenticator, caller, keyId, input } = call;
      const rotated = await authenticator.rotate(keyId, input, caller);
      call.act = { spaceId: rotated.spaceId, details: { keyId, name: rotated.name, ...input } };
      return rotated;
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
    description: 'Every process refuses the key within a second, and its streams are closed.',
    response: doneResponse,
    examples: { response: DONE },
    async handler(call) {
      const { authenticator, caller, keyId } = call;
      const revoked = await authenticator.revoke(keyId, caller);
      call.act = { spaceId: revoked?.spaceId ?? null, details: { keyId, ...(revoked && { name: revoked.name }) } };
      return { success: true } as const;
    },
  }),
  route({
    operation: 'listAuditEntries',
    method: 'GET',
    path: '/api/v1/audit',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'List what was done',
    description:
      'Acts of administrators and operators that succeeded, newest first: the newest 10 000 are kept. A caller whose key is bound to a space gets those in that space, and a page of these may be short.',
    query: auditQuery,
    response: auditPage,
    examples: { response: { 'One entry': { entries: [ACT], nextCursor: null } } },
    handler: ({ store, caller, input }) => listActs(store, caller, input),
  }),
  route({
    operation: 'getCallbackSecrets',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/callback-secret',
    scopes: ['keys:manage'],
    isLocal: true,
    tag: 'Keys',
    summary: 'Get the callback secrets of a space',
    description:
      'Receivers verify the callbacks of the space with them, by Standard Webhooks. Any one of them is enough. There are several while `CALLBACK_SIGNING_SECRET` is being changed.',
    response: callbackSecretList,
    examples: {
      response: { 'One secret': { secrets: [CALLBACK_SECRET] }, 'Callbacks are not signed': { secrets: [] } },
    },
    handler: async ({ callbackMasters, spaceId }) => ({ secrets: callbackSecrets(callbackMasters, spaceId) }),
  }),
];
