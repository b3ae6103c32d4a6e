import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, compose, type Logger, type Service } from '@yardmaster/runtime';
import { listen, type Streams, urlOf } from './http/server.js';
import { drain } from './http/shutdown.js';
import type { ServerContext } from './server-context.js';

/** Variables that an HTTP service reads. `runApp` reads the last one. */
export const HTTP_SERVICE_VARIABLES = ['PORT', 'HOST', 'KEEP_ALIVE_SECONDS', 'SHUTDOWN_SECONDS'] as const;

/** Work that a process does on its own, in addition to serving requests. It is started once Redis is reachable. */
export interface Background extends Service {
  /** Whether it gets its work done; a process that does not should be restarted. */
  isLive(): boolean;
  /**
   * Whether it does all of its work by now; not right after its start. In a rollout another process does it until then.
   */
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
 * and responds with 503. To stop, it first stops being ready, then finishes open requests, and then releases Redis.
 */
export function createHttpService(options: HttpServiceOptions): HttpService {
  const { name, context, server, streams, background, config, log } = options;
  server.keepAliveTimeout = config.KEEP_ALIVE_SECONDS * 1_000;
  let contextStarted = Promise.resolve();
  const connections: Service = {
    name: context.name,
    async start() {
      contextStarted = context.start();
      contextStarted.catch(() => undefined); // The listener throws it, unless the port makes the start fail first.
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
  // Streams stop together with the listener, which would wait for their sockets forever.
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
