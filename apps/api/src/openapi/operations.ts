import type { Operation } from './operation.js';
import { JOBS } from './operations/jobs.js';
import { KEYS } from './operations/keys.js';
import { LOGS } from './operations/logs.js';
import { READING } from './operations/reading.js';
import { WORK } from './operations/work.js';

const ALL = { ...JOBS, ...WORK, ...READING, ...LOGS, ...KEYS };

/** Name of an operation. Each row of ROUTES names its own, so that none can be forgotten. */
export type OperationName = keyof typeof ALL;

export const OPERATIONS: Record<OperationName, Operation> = ALL;
