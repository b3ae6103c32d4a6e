import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/** Ids that fit into a log line. */
const REQUEST_ID_SHAPE = /^[\x21-\x7e]{1,128}$/;

const REQUEST_ID = Symbol('id of the request');

type Identified = ServerResponse & { [REQUEST_ID]?: string };

/** Return the client's own id of a request when it fits into a log line, otherwise a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID_SHAPE.test(given) ? given : randomUUID();
}

/** Return the id of the request that a response is for. The response carries it in the header `x-request-id`. */
export function requestIdOfResponse(res: Identified): string {
  res[REQUEST_ID] ??= requestIdOf(res.req);
  return res[REQUEST_ID];
}

/**
 * Check that a request names its host as HTTP requires: exactly once, or not at all before HTTP/1.1. Two Host headers
 * are a way to smuggle requests past a proxy. We check this, because Node's own refusal has no body and it does not
 * notice the second header.
 *
 * @throws INVALID_REQUEST
 */
export function checkHost(req: IncomingMessage): void {
  if (!hasOneHost(req)) throw new YardmasterError('INVALID_REQUEST', 'Host header must appear exactly once');
}

function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/**
 * Create a function that returns the address of the client that sent a request.
 *
 * @param trusted addresses and networks of proxies whose `X-Forwarded-For` is trusted; empty: use only the socket's
 *   peer
 * @returns an address; for IPv6 its /64 network, because one household or machine may use all of it
 */
export function clientAddressBy(trusted: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (req) => {
    const { remoteAddress } = req.socket;
    const isTrustedHop = (hop: string, distance: number) => isTrusted(withoutPort(hop), distance);
    const address = remoteAddress === undefined ? '' : withoutPort(proxyAddr(req, isTrustedHop));
    if (!ipaddr.isValid(address)) return address; // A unix socket has no address, and a proxy may write anything.
    const parsed = ipaddr.process(address); // ::ffff:1.2.3.4 is 1.2.3.4
    if (parsed.kind() === 'ipv4') return parsed.toString();
    return `${(parsed as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  };
}

/** Remove the port, which some proxies write as well and which differs for each connection. */
function withoutPort(address: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}
