import { HEARTBEATS } from './heartbeats.js';
import { JOBS } from './jobs.js';
import { KEYS } from './keys.js';
import { LOGS } from './logs.js';
import { MANAGE } from './manage.js';
import { OPERATIONS } from './operations.js';
import { READING } from './reading.js';
import type { Route } from './route.js';
import { SPACE_READING } from './space-reading.js';
import { SPACES } from './spaces.js';
import { STREAM_TOKENS } from './stream-tokens.js';
import { WORK } from './work.js';

/** Every endpoint below `/api/v1`, in the order of the OpenAPI document. */
export const ROUTES: readonly Route[] = [
  ...JOBS,
  ...MANAGE,
  ...OPERATIONS,
  ...WORK,
  ...HEARTBEATS,
  ...READING,
  ...SPACE_READING,
  ...STREAM_TOKENS,
  ...LOGS,
  ...SPACES,
  ...KEYS,
];
