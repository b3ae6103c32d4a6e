import type { IncomingMessage, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Backend } from '../backend.js';
import { routeIs, UNKNOWN_ROUTE } from '../metrics/requests.js';
import { sendEmpty, sendError, sendJson } from './answer.js';
import { checkHost } from './host.js';
import { answerMetrics } from './metrics-answer.js';

/** Where every process tells how it is, by GET and without a key. */
export const PROBES = ['/livez', '/readyz', '/metrics'] as const;

export type Probe = (typeof PROBES)[number];

const isProbe = (path: string): path is Probe => (PROBES as readonly string[]).includes(path);

const ALLOW = 'OPTIONS, GET, HEAD';

export interface Health {
  backend: Backend;
  /** Whether the process does what it is there for; of one that only serves, that it answers says so. */
  isLive: () => boolean;
  /** Whether it does so by now. Default: as soon as the backend is ready. */
  isReady?: () => boolean;
}

/**
 * Answer the probes of Kubernetes and Prometheus, for an app that serves nothing else over HTTP; any other path there
 * is not.
 */
export async function answerProbe(req: IncomingMessage, res: ServerResponse, health: Health): Promise<void> {
  try {
    checkHost(req);
    const path = req.url?.split('?')[0] ?? '';
    routeIs(res, isProbe(path) ? path : UNKNOWN_ROUTE);
    if (!isProbe(path)) throw new YardmasterError('NOT_FOUND');
    if (req.method === 'OPTIONS') {
      sendEmpty(res, { allow: ALLOW });
    } else if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
    } else {
      await answerCheck(res, path, health);
    }
  } catch (error) {
    sendError(res, error as YardmasterError); // Nothing else is thrown here.
  }
}

/** Answer whether the process is live or ready, 200 or 503; or with its metrics, in any case. */
export async function answerCheck(res: ServerResponse, path: Probe, health: Health): Promise<void> {
  const { backend, isLive, isReady = () => true } = health;
  if (path === '/metrics') return answerMetrics(res, backend.metrics.registry);
  const ok = path === '/livez' ? isLive() : isReady() && (await backend.isReady());
  sendJson(res, ok ? 200 : 503, { status: ok ? 'ok' : `not ${path === '/livez' ? 'live' : 'ready'}` });
}
