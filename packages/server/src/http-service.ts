import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config, Logger, Service } from '@yardmaster/runtime';
import type { Background } from './background.js';
import { drain } from './http/drain.js';
import { listen, urlOf } from './http/listen.js';
import type { ServerContext } from './server-context.js';
import type { Streams } from './streams.js';

/** Variables that an HTTP service reads. */
export const HTTP_SERVICE_VARIABLES = ['PORT', 'HOST', 'SHUTDOWN_SECONDS'] as const;

export interface HttpServiceOptions {
  /** Name in the log. */
  name: string;
  context: ServerContext;
  server: Server;
  /** Streams on the same port. Their sockets are closed before the server, which would wait for them for ever. */
  streams?: Streams | undefined;
  /** Work done in addition to serving requests. */
  background?: Background | undefined;
  config: Config<(typeof HTTP_SERVICE_VARIABLES)[number]>;
  log: Logger;
}

/** An HTTP server and the server context behind it, as one service. */
export interface HttpService extends Service {
  /** Return the URL at which it listens once started: `http://127.0.0.1:8080`. */
  url(): string;
}

/**
 * How long a starting process waits for Redis before it listens. A proxy that does not know readiness, such as nginx,
 * sends calls to every process that accepts them. Those calls would get 503 while another process could serve them.
 */
const BEFORE_LISTENING_MS = 2_000;

/**
 * Create an HTTP service. It listens once it can serve, or soon after its start: without Redis it is live, not ready,
 * and responds with 503. To stop, it first stops being ready, then finishes what is open, and then releases Redis.
 */
export function createHttpService({
  name,
  context,
  server,
  streams,
  background,
  config,
  log,
}: HttpServiceOptions): HttpService {
  return {
    name,
    url: () => urlOf(server),
    async start() {
      const prepared = context.start();
      prepared.catch(() => undefined); // Thrown below, unless the port makes the start fail first.
      await Promise.race([prepared, delay(BEFORE_LISTENING_MS, undefined, { ref: false })]);
      await listen(server, config.PORT, config.HOST);
      await prepared;
      await background?.start();
      log.info({ url: urlOf(server) }, `${name} listening`);
    },
    async stop() {
      context.announceStop();
      const withinMs = (config.SHUTDOWN_SECONDS * 1000) / 2;
      await Promise.all([streams?.close(withinMs), background?.stop(withinMs), drain(server, withinMs)]);
      await context.stop();
    },
  };
}
