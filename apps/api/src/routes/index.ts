import { ATTEMPTS } from './attempt.js';
import { JOBS } from './jobs.js';
import { KEYS } from './keys.js';
import { LOGS } from './logs.js';
import { OPERATIONS } from './operations.js';
import { READING } from './reading.js';
import type { Route } from './route.js';
import { SCHEDULES } from './schedules.js';
import { SPACES } from './spaces.js';
import { WORK } from './work.js';

/** Every endpoint below `/api/v1`, in the order of the OpenAPI document. */
export const ROUTES: readonly Route[] = [
  ...JOBS,
  ...OPERATIONS,
  ...WORK,
  ...ATTEMPTS,
  ...READING,
  ...LOGS,
  ...SCHEDULES,
  ...SPACES,
  ...KEYS,
];
