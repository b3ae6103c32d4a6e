import type { Server } from 'node:http';
import type { Config, Logger, Service } from '@yardmaster/runtime';
import type { Backend } from './backend.js';
import type { Duties } from './duties.js';
import { drain, listen, urlOf } from './http/listen.js';
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
 * Make a front. It listens first and then waits for Redis: until Redis is there it is live, not ready, and answers
 * 503. To stop, it is not ready, finishes what is open, and then lets go of Redis.
 */
export function createFront({ name, backend, server, streams, duties, config, log }: FrontOptions): Front {
  return {
    name,
    url: () => urlOf(server),
    async start() {
      await listen(server, config.PORT, config.HOST);
      await backend.start();
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
