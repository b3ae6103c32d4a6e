import { readFileSync } from 'node:fs';

/** Version of this release, as the package has it. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** What this release does beyond the first one, so that a client knows what an older service would ignore. */
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
