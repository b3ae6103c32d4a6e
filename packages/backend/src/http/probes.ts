import type { IncomingMessage, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Backend } from '../backend.js';
import { sendEmpty, sendError, sendJson } from './answer.js';
import { checkHost } from './host.js';
import { requestIdOf } from './request-id.js';

const ALLOW = 'OPTIONS, GET, HEAD';

export interface Health {
  backend: Backend;
  /** Whether the process does what it is there for; of one that only serves, that it answers says so. */
  isLive: () => boolean;
}

/** Answer the probes of Kubernetes, for an app that serves nothing else over HTTP; any other path there is not. */
export async function answerProbe(req: IncomingMessage, res: ServerResponse, health: Health): Promise<void> {
  res.setHeader('x-request-id', requestIdOf(req));
  try {
    checkHost(req);
    const path = req.url?.split('?')[0] ?? '';
    if (path !== '/livez' && path !== '/readyz') throw new YardmasterError('NOT_FOUND');
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

/** Answer whether the process is live or ready: 200 or 503. */
export async function answerCheck(
  res: ServerResponse,
  path: '/livez' | '/readyz',
  { backend, isLive }: Health,
): Promise<void> {
  const ok = path === '/livez' ? isLive() : await backend.isReady();
  sendJson(res, ok ? 200 : 503, { status: ok ? 'ok' : `not ${path === '/livez' ? 'live' : 'ready'}` });
}
