import { readFileSync } from 'node:fs';

/** Version of this release, from package.json. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Features of this version. Clients that must work with other versions check here before relying on one. */
export const FEATURES = [
  'idempotency',
  'unique',
  'delivery-token',
  'release',
  'schedule',
  'schedules',
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
