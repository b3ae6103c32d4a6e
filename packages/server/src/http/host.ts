import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';

/**
 * Check that a request names its host as HTTP requires: exactly once, or not at all before HTTP/1.1. Two Host headers
 * are a way to smuggle requests past a proxy. We check this, because Node's own refusal has no body and it does not
 * notice the second header.
 *
 * @throws INVALID_REQUEST
 */
export function checkHost(req: IncomingMessage): void {
  if (!hasOneHost(req)) throw new YardmasterError('INVALID_REQUEST', 'Host header must be there once');
}

function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}
