import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All of IPv6 that is given out to the public; NAT64, mapped, compatible and local addresses lie outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by its number, but Azure answers its virtual machines there, as 169.254.169.254 does elsewhere. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Whether an address belongs to the public internet. Loopback, private, shared, link-local, multicast, documentation,
 * benchmarking and reserved networks do not, nor what may lead into them: NAT64, 6to4 and Teredo.
 *
 * @param address IPv4 or IPv6, as Node writes it; anything else is not public
 * @see the IANA special-purpose address registries, which the library follows
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST);
  return parsed.toString() !== AZURE_PLATFORM;
}
