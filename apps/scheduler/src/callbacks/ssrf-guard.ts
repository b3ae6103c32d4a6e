import { isIP } from 'node:net';
import { ConfigError } from '@yardmaster/runtime';
import ipaddr from 'ipaddr.js';

/** The part of IPv6 that is allocated to the public; NAT64, mapped, compatible and local addresses lie outside it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * An address that is public by its number, but where Azure serves its virtual machines, as 169.254.169.254 does
 * elsewhere.
 */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Check whether an address belongs to the public internet. Loopback, private, shared, link-local, multicast,
 * documentation, benchmarking and reserved networks do not. Networks that may lead into them do not either: NAT64, 6to4
 * and Teredo.
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

/** An address of each kind that callbacks must not reach. Releases of ipaddr.js before 2.4 treat some as public. */
const MUST_BE_REFUSED = [
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.0.1'],
  ...[AZURE_PLATFORM, '198.18.0.1', '224.0.0.1', '240.0.0.1'],
  ...['::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2001::1', '2002:7f00:1::', '3fff::1', 'fd00:ec2::254'],
  ...['fe80::1', 'ff02::1'],
];

/**
 * Test the guard once. The networks that ipaddr.js knows depend on its version, and the version that Node finds depends
 * on where npm has put it. A wrong version would open the network of the schedulers without any other sign.
 *
 * @throws ConfigError naming the addresses that it accepts
 */
export function checkGuard(isAllowed: (address: string) => boolean = isPublic): void {
  const reached = MUST_BE_REFUSED.filter((address) => isAllowed(address));
  if (reached.length === 0) return;
  throw new ConfigError([
    `callbacks could reach ${reached.join(', ')}: the dependency ipaddr.js is the wrong version; install with npm ci`,
  ]);
}
