import http from 'node:http';
import {
  answerProbe,
  attachStreams,
  BACKEND_VARIABLES,
  type Backend,
  createBackend,
  createFront,
  FRONT_VARIABLES,
  type Front,
  protectServer,
  SERVER_OPTIONS,
  type Streams,
} from '@yardmaster/backend';
import type { Config, Logger } from '@yardmaster/runtime';
import { STREAM_VARIABLES } from './admission.js';
import { createStreams } from './streams.js';

/** Variables that the gateway reads. */
export const GATEWAY_VARIABLES = [...BACKEND_VARIABLES, ...FRONT_VARIABLES, ...STREAM_VARIABLES, 'LOG_LEVEL'] as const;

export type GatewayConfig = Config<(typeof GATEWAY_VARIABLES)[number]>;

/** Make the gateway as a process of its own: the streams, and the probes for Kubernetes. */
export function createGateway(config: GatewayConfig & { REDIS_URL: string }, log: Logger): Front {
  const backend = createBackend(config, log);
  const streams = createStreams({ backend, config, log });
  const server = protectServer(createStreamServer(streams, backend), backend.metrics.requests);
  return createFront({ name: 'gateway', backend, server, streams, config, log });
}

function createStreamServer(streams: Streams, backend: Backend): http.Server {
  class Request extends http.IncomingMessage {}
  const server = http.createServer({ ...SERVER_OPTIONS, IncomingMessage: Request }, (req, res) =>
    streams.isFor(req) ? streams.answer(req, res) : answerProbe(req, res, { backend, isLive: () => true }),
  );
  attachStreams(server, Request, streams);
  return server;
}
