import type { Operation } from '../operation.js';
import { API_KEY, CALLBACK_SECRET, SPACE_ID } from '../samples.js';
import { DONE } from './done.js';

/** Operations for the administration of API keys and callback secrets. */
export const KEYS = {
  createKey: {
    tag: 'Keys',
    summary: 'Create an API key',
    description: 'The answer is the only one that shows the key; only a hash of it is kept.',
    refusals: ['STORAGE_FULL'],
    request: {
      'For the workers of a space': { name: 'resizers', scopes: ['jobs:worker'], spaceId: SPACE_ID },
      'For a producer, for a time': {
        name: 'shop',
        scopes: ['jobs:create', 'jobs:read'],
        expiresAt: '2027-01-01T00:00:00+01:00',
      },
    },
    response: { 'The key': { ...API_KEY, key: `ym_${API_KEY.id}_${'0'.repeat(64)}` } },
    yields: { parameter: 'keyId', at: '/id' },
  },
  listKeys: {
    tag: 'Keys',
    summary: 'List the API keys',
    description: 'Newest first, without their secrets.',
    response: { 'One key': [API_KEY] },
  },
  revokeKey: {
    tag: 'Keys',
    summary: 'Revoke an API key',
    description: 'It is refused from now on, everywhere within a second, and its streams are closed.',
    response: DONE,
  },
  getCallbackSecrets: {
    tag: 'Keys',
    summary: 'Get the callback secrets of a space',
    description:
      'Receivers verify the callbacks of the space with them, by Standard Webhooks. Any one of them is enough. There are ' +
      'several while `CALLBACK_SIGNING_SECRET` is being changed.',
    response: { 'One secret': { secrets: [CALLBACK_SECRET] }, 'Callbacks are not signed': { secrets: [] } },
  },
} as const satisfies Record<string, Operation>;
