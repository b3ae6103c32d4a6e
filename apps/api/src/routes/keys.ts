import {
  apiKeyList,
  callbackSecretList,
  callbackSecrets,
  createdApiKey,
  createKeyRequest,
  doneResponse,
} from '@yardmaster/protocol';
import { createKey, listKeys } from '@yardmaster/store';
import { API_KEY, CALLBACK_SECRET, SPACE_ID } from './examples.js';
import { DONE, done, type Route, route } from './route.js';

/** Endpoints for the administration of API keys and callback secrets. */
export const KEYS: readonly Route[] = [
  route({
    operation: 'createKey',
    method: 'POST',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'Create an API key',
    description: 'Only this response shows the key; the service stores only a hash of it.',
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
      },
      response: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${'0'.repeat(64)}` } },
    },
    links: { parameter: 'keyId', from: '/id' },
    handler: ({ store, input }) => createKey(store, input),
  }),
  route({
    operation: 'listKeys',
    method: 'GET',
    path: '/api/v1/keys',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'List the API keys',
    description: 'Newest first, without their secrets.',
    response: apiKeyList,
    examples: { response: { 'One key': [API_KEY] } },
    handler: ({ store }) => listKeys(store),
  }),
  route({
    operation: 'revokeKey',
    method: 'DELETE',
    path: '/api/v1/keys/:keyId',
    scopes: ['keys:manage'],
    tag: 'Keys',
    summary: 'Revoke an API key',
    description: 'Every process refuses the key within a second, and its streams are closed.',
    response: doneResponse,
    examples: { response: DONE },
    handler: ({ authenticator, keyId }) => done(authenticator.revoke(keyId)),
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
