import type { IncomingMessage, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Backend } from '../backend.js';
import { sendEmpty, sendError, sendJson } from './answer.js';
import { checkHost } from './host.js';
import { requestIdOf } from './request-id.js';

const PATHS = ['/livez', '/readyz'];
const ALLOW = 'OPTIONS, GET, HEAD';

/** Answer the probes of Kubernetes, for an app that serves nothing else over HTTP; any other path there is not. */
export async function answerProbe(req: IncomingMessage, res: ServerResponse, backend: Backend): Promise<void> {
  res.setHeader('x-request-id', requestIdOf(req));
  if (backend.stopping.aborted) res.shouldKeepAlive = false;
  try {
    checkHost(req);
    const path = req.url?.split('?')[0] ?? '';
    if (!PATHS.includes(path)) throw new YardmasterError('NOT_FOUND');
    if (req.method === 'OPTIONS') {
      sendEmpty(res, { allow: ALLOW });
    } else if (req.method !== 'GET' && req.method !== 'HEAD') {
      sendError(res, new YardmasterError('METHOD_NOT_ALLOWED', `Allowed here: ${ALLOW}`), { allow: ALLOW });
    } else {
      const ok = path === '/livez' || (await backend.isReady());
      sendJson(res, ok ? 200 : 503, { status: ok ? 'ok' : 'not ready' });
    }
  } catch (error) {
    sendError(res, error as YardmasterError); // Nothing else is thrown here.
  }
}
