import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import proxyAddr from 'proxy-addr';

/**
 * Make a function that tells whose stream a request asks for, as far as its address does.
 *
 * @param trusted addresses and networks of proxies whose `X-Forwarded-For` is believed; none: only the socket's peer
 * @returns an address; for IPv6 its /64 network, all of which one household or machine may use
 */
export function clientAddressBy(trusted: readonly string[]): (req: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (req) => {
    const { remoteAddress } = req.socket;
    const isTrustedHop = (hop: string, distance: number) => isTrusted(withoutPort(hop), distance);
    const address = remoteAddress === undefined ? '' : withoutPort(proxyAddr(req, isTrustedHop));
    if (!ipaddr.isValid(address)) return address; // A unix socket has none; a proxy may write anything.
    const parsed = ipaddr.process(address); // ::ffff:1.2.3.4 is 1.2.3.4
    if (parsed.kind() === 'ipv4') return parsed.toString();
    return `${(parsed as ipaddr.IPv6).parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  };
}

/** Some proxies write the port as well, which is another one for each connection. */
function withoutPort(address: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
}
