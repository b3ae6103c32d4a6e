import http from 'node:http';
import type { Config, Logger } from '@yardmaster/runtime';
import {
  createHttpService,
  createServerContext,
  HTTP_SERVICE_VARIABLES,
  type HttpService,
  protectServer,
  respondToProbe,
  SERVER_CONTEXT_VARIABLES,
  SERVER_OPTIONS,
} from '@yardmaster/server';
import { CALLBACK_VARIABLES, createBackground } from './background.js';
import { METRICS_VARIABLES } from './metrics.js';

export const SCHEDULER_VARIABLES = [
  ...SERVER_CONTEXT_VARIABLES,
  ...HTTP_SERVICE_VARIABLES,
  ...CALLBACK_VARIABLES,
  ...METRICS_VARIABLES,
  'LOG_LEVEL',
] as const;

export type SchedulerConfig = Config<(typeof SCHEDULER_VARIABLES)[number]>;

/** Create the scheduler as a separate process: its background work, and the probes for Kubernetes. */
export function createScheduler(config: SchedulerConfig & { REDIS_URL: string }, log: Logger): HttpService {
  const context = createServerContext(config, log, { watchesSettings: false });
  const background = createBackground({ context, config, log });
  const { isLive, isReady } = background;
  const server = protectServer(
    http.createServer(SERVER_OPTIONS, (req, res) => respondToProbe(req, res, { context, isLive, isReady })),
    context.metrics.requests,
  );
  return createHttpService({ name: 'scheduler', context, server, background, config, log });
}
