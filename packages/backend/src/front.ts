import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config, Logger, Service } from '@yardmaster/runtime';
import type { Backend } from './backend.js';
import type { Duties } from './duties.js';
import { drain } from './http/drain.js';
import { listen, urlOf } from './http/listen.js';
import type { Streams } from './streams.js';

/** Variables that a front reads. */
export const FRONT_VARIABLES = ['PORT', 'HOST', 'SHUTDOWN_SECONDS'] as const;

export interface FrontOptions {
  /** For the log. */
  name: string;
  backend: Backend;
  server: Server;
  /** Streams on the same port; their sockets are closed before the server, which would wait for them for ever. */
  streams?: Streams | undefined;
  /** Done beside the serving. */
  duties?: Duties | undefined;
  config: Config<(typeof FRONT_VARIABLES)[number]>;
  log: Logger;
}

/** A server and the backend behind it, as a service. */
export interface Front extends Service {
  /** Where it listens once started: `http://127.0.0.1:8080`. */
  url(): string;
}

/**
 * For so long a process that starts waits for Redis before it listens. A proxy that knows nothing of readiness, as nginx,
 * sends calls to whoever accepts them, and would have them answered 503 while others could serve them.
 */
const BEFORE_LISTENING_MS = 2_000;

/**
 * Make a front. It listens once it can serve, or soon after its start: without Redis it is live, not ready, and answers
 * 503. To stop, it is not ready, finishes what is open, and then lets go of Redis.
 */
export function createFront({ name, backend, server, streams, duties, config, log }: FrontOptions): Front {
  return {
    name,
    url: () => urlOf(server),
    async start() {
      const prepared = backend.start();
      prepared.catch(() => undefined); // Thrown below, unless the port is what stops the start.
      await Promise.race([prepared, delay(BEFORE_LISTENING_MS, undefined, { ref: false })]);
      await listen(server, config.PORT, config.HOST);
      await prepared;
      await duties?.start();
      log.info({ url: urlOf(server) }, `${name} listening`);
    },
    async stop() {
      backend.announceStop();
      const withinMs = (config.SHUTDOWN_SECONDS * 1000) / 2;
      await Promise.all([streams?.close(withinMs), duties?.stop(withinMs), drain(server, withinMs)]);
      await backend.stop();
    },
  };
}
