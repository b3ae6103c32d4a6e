import type { IncomingMessage, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Registry } from 'prom-client';
import { setRoute, UNKNOWN_ROUTE } from '../metrics/http.js';
import type { ServerContext } from '../server-context.js';
import { COMMON, checkFraming, endResponse, requestIdOfResponse, sendEmpty, sendError, sendJson } from './exchange.js';

/** Paths at which every process reports its state, without a key. */
export const PROBES = ['/livez', '/readyz', '/metrics'] as const;

export type Probe = (typeof PROBES)[number];

const isProbe = (path: string): path is Probe => (PROBES as readonly string[]).includes(path);

const ALLOW = 'OPTIONS, GET, HEAD';

export interface Health {
  context: ServerContext;
  /** Returns whether the process does its work. For a process that only serves requests, the response is proof enough. */
  isLive: () => boolean;
  /** Returns whether the process is fully up and running. Default: as soon as the server context is ready. */
  isReady?: () => boolean;
}

/** Respond to the probes of Kubernetes and Prometheus, in an app that serves no other paths over HTTP. */
export async function respondToProbe(req: IncomingMessage, res: ServerResponse, health: Health): Promise<void> {
  try {
    checkFraming(req);
    const path = req.url?.split('?')[0] ?? '';
    setRoute(res, isProbe(path) ? path : UNKNOWN_ROUTE);
    if (!isProbe(path)) throw new YardmasterError('NOT_FOUND');
    if (req.method === 'OPTIONS') {
      sendEmpty(res, { allow: ALLOW });
    } else if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
    } else {
      await respondToCheck(res, path, health);
    }
  } catch (error) {
    sendError(res, error as YardmasterError); // No other errors are thrown here.
  }
}

/** Respond to a probe: with 200 or 503, or with the metrics. */
export async function respondToCheck(res: ServerResponse, path: Probe, health: Health): Promise<void> {
  const { context, isLive, isReady = () => true } = health;
  if (path === '/metrics') return respondWithMetrics(res, context.metrics.registry);
  const ok = path === '/livez' ? isLive() : isReady() && (await context.isReady());
  sendJson(res, ok ? 200 : 503, { status: ok ? 'ok' : `not ${path === '/livez' ? 'live' : 'ready'}` });
}

/** Respond to a scrape, in the Prometheus text format. */
async function respondWithMetrics(res: ServerResponse, registry: Registry): Promise<void> {
  const text = await registry.metrics();
  res.writeHead(200, {
    ...COMMON,
    'x-request-id': requestIdOfResponse(res),
    'content-type': registry.contentType,
    'content-length': Buffer.byteLength(text),
  });
  endResponse(res, text);
}
