import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, compose, type Logger, type Service } from '@yardmaster/runtime';
import { listen, type Streams, urlOf } from './http/server.js';
import { drain } from './http/shutdown.js';
import type { ServerContext } from './server-context.js';

/** Variables that an HTTP service reads. `runApp` reads the last one. */
export const HTTP_SERVICE_VARIABLES = ['PORT', 'HOST', 'KEEP_ALIVE_SECONDS', 'SHUTDOWN_SECONDS'] as const;

/** Work that a process does in addition to serving requests. It is started once Redis is reachable. */
export interface Background extends Service {
  /** Return whether the work gets done; if not, the process should be restarted. */
  isLive(): boolean;
  /** Return whether the work is fully up and running. During a rollout, another process does the work until then. */
  isReady(): boolean;
}

export interface HttpServiceOptions {
  /** Name in the log. */
  name: string;
  context: ServerContext;
  server: Server;
  /** Streams on the same port. */
  streams?: Streams | undefined;
  background?: Background | undefined;
  config: Pick<Config<(typeof HTTP_SERVICE_VARIABLES)[number]>, 'PORT' | 'HOST' | 'KEEP_ALIVE_SECONDS'>;
  log: Logger;
}

/** An HTTP server and the server context behind it, as one service. */
export interface HttpService extends Service {
  /** Return the URL that the service listens on once started: `http://127.0.0.1:8080`. */
  url(): string;
}

/**
 * How long a starting process waits for Redis before it listens. A proxy that doesn't check readiness, such as nginx, sends
 * calls to every process that accepts connections; they would get a 503 while another process could serve them.
 */
const BEFORE_LISTENING_MS = 2_000;

/**
 * Create an HTTP service. It listens as soon as it can serve, or shortly after its start: without Redis, it is live but not
 * ready, and responds with 503. To stop, it first becomes not ready, then finishes open requests, and then releases Redis.
 */
export function createHttpService(options: HttpServiceOptions): HttpService {
  const { name, context, server, streams, background, config, log } = options;
  server.keepAliveTimeout = config.KEEP_ALIVE_SECONDS * 1_000;
  let contextStarted = Promise.resolve();
  const connections: Service = {
    name: context.name,
    async start() {
      contextStarted = context.start();
      contextStarted.catch(() => undefined); // The listener rethrows it, unless it fails first because of the port.
      await Promise.race([contextStarted, delay(BEFORE_LISTENING_MS, undefined, { ref: false })]);
    },
    stop: (withinMs) => context.stop(withinMs),
  };
  const listener: Service = {
    name: 'listener',
    async start() {
      await listen(server, config.PORT, config.HOST);
      await contextStarted;
    },
    stop: (withinMs) => drain(server, withinMs),
  };
  // Streams stop together with the listener, which would otherwise wait forever for their sockets.
  const serving = [listener, streams, background].filter((service) => service !== undefined);
  const service = compose(name, [[connections], serving]);
  return {
    name,
    url: () => urlOf(server),
    async start() {
      await service.start();
      log.info({ url: urlOf(server) }, `${name} listening`);
    },
    stop(withinMs) {
      context.announceStop();
      return service.stop(withinMs);
    },
  };
}
