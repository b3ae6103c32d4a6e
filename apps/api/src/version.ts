import { readFileSync } from 'node:fs';

/** Version of this release, as the package has it. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Optional parts of the API. A client that must also work with other versions checks here before it relies on one. */
export const FEATURES = [
  'idempotency',
  'unique',
  'delivery-token',
  'release',
  'schedule',
  'retry',
  'long-poll',
  'batch',
  'settle',
  'turn',
  'operations',
  'find',
  'settings',
  'stream-resume',
  'sse',
  'stream-tokens',
] as const;
