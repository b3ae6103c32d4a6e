import http from 'node:http';
import type { Config, Logger } from '@yardmaster/runtime';
import {
  attachStreams,
  createHttpService,
  createServerContext,
  HTTP_SERVICE_VARIABLES,
  type HttpService,
  protectServer,
  respondToProbe,
  SERVER_CONTEXT_VARIABLES,
  SERVER_OPTIONS,
  type ServerContext,
  type Streams,
} from '@yardmaster/server';
import { STREAM_VARIABLES } from './admission/admission.js';
import { createStreams } from './streams.js';

export const GATEWAY_VARIABLES = [
  ...SERVER_CONTEXT_VARIABLES,
  ...HTTP_SERVICE_VARIABLES,
  ...STREAM_VARIABLES,
  'LOG_LEVEL',
] as const;

export type GatewayConfig = Config<(typeof GATEWAY_VARIABLES)[number]>;

/** Create the gateway as a separate process: the streams, and the probes for Kubernetes. */
export function createGateway(config: GatewayConfig & { REDIS_URL: string }, log: Logger): HttpService {
  const context = createServerContext(config, log);
  const streams = createStreams({ context, config, log });
  const server = protectServer(createStreamServer(streams, context), context.metrics.requests);
  return createHttpService({ name: 'gateway', context, server, streams, config, log });
}

function createStreamServer(streams: Streams, context: ServerContext): http.Server {
  class Request extends http.IncomingMessage {}
  const server = http.createServer({ ...SERVER_OPTIONS, IncomingMessage: Request }, (req, res) =>
    streams.isFor(req) ? streams.respond(req, res) : respondToProbe(req, res, { context, isLive: () => true }),
  );
  attachStreams(server, Request, streams);
  return server;
}
