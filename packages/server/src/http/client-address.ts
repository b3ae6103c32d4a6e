import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

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
