import http from 'node:http';
import {
  answerProbe,
  BACKEND_VARIABLES,
  createBackend,
  createFront,
  FRONT_VARIABLES,
  type Front,
  protectServer,
  SERVER_OPTIONS,
} from '@yardmaster/backend';
import type { Config, Logger } from '@yardmaster/runtime';
import { CALLBACK_VARIABLES } from './callbacks/callbacks.js';
import { createDuties } from './duties.js';
import { METRICS_VARIABLES } from './metrics/backlog-metrics.js';

/** Variables that the scheduler reads. */
export const SCHEDULER_VARIABLES = [
  ...BACKEND_VARIABLES,
  ...FRONT_VARIABLES,
  ...CALLBACK_VARIABLES,
  ...METRICS_VARIABLES,
  'LOG_LEVEL',
] as const;

export type SchedulerConfig = Config<(typeof SCHEDULER_VARIABLES)[number]>;

/** Make the scheduler as a process of its own: its duties, and the probes for Kubernetes. */
export function createScheduler(config: SchedulerConfig & { REDIS_URL: string }, log: Logger): Front {
  const backend = createBackend(config, log);
  const duties = createDuties({ backend, config, log });
  const { isLive, isReady } = duties;
  const server = protectServer(
    http.createServer(SERVER_OPTIONS, (req, res) => answerProbe(req, res, { backend, isLive, isReady })),
    backend.metrics.requests,
  );
  return createFront({ name: 'scheduler', backend, server, duties, config, log });
}
