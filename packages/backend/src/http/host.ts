import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';

/**
 * Check that a request names its host as HTTP says: once, or, before HTTP/1.1, not at all. Two of them are how requests
 * are smuggled past a proxy. Checked by us, since Node's own refusal has no body and it overlooks the second one.
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
