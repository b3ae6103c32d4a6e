import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConfigError } from '@yardmaster/runtime';
import ipaddr from 'ipaddr.js';
import type { Resolve } from './dns-lookup.js';

/** The public part of IPv6. NAT64, mapped, compatible and local addresses lie outside it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure's platform service, which is like 169.254.169.254 elsewhere, although the address is formally public. */
const AZURE_PLATFORM = '168.63.129.16';

/**
 * Return whether an address belongs to the public internet. Excludes loopback, private, shared, link-local, multicast,
 * documentation, benchmarking and reserved networks, and those that may lead into them: NAT64, 6to4 and Teredo.
 *
 * @param address IPv4 or IPv6 address, as formatted by Node; anything else is not public
 * @see the IANA special-purpose address registries, which the library follows
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST);
  return parsed.toString() !== AZURE_PLATFORM;
}

/** Addresses of every kind that callbacks must not reach. Releases of ipaddr.js before 2.4 treat some as public. */
const MUST_BE_REFUSED = [
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.0.1'],
  ...[AZURE_PLATFORM, '198.18.0.1', '224.0.0.1', '240.0.0.1'],
  ...['::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2001::1', '2002:7f00:1::', '3fff::1', 'fd00:ec2::254'],
  ...['fe80::1', 'ff02::1'],
];

/**
 * Test the guard once. The networks that ipaddr.js knows depend on its version, and the version that Node loads depends on
 * where npm installed it. A wrong version would silently expose the network of the schedulers.
 *
 * @throws ConfigError with the addresses that the guard wrongly accepts
 */
export function checkGuard(isAllowed: (address: string) => boolean = isPublic): void {
  const reached = MUST_BE_REFUSED.filter((address) => isAllowed(address));
  if (reached.length === 0) return;
  throw new ConfigError([
    `callbacks could reach ${reached.join(', ')}: the dependency ipaddr.js is the wrong version; install with npm ci`,
  ]);
}

/** Error thrown instead of connecting to an address that callbacks must not reach. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ERR_ADDRESS_REFUSED';
}

export interface AgentOptions {
  resolve: Resolve;
  /** Whether non-public addresses may be reached. */
  allowPrivate: boolean;
}

/** Node's callback for a connection that could not be started. */
type Connected = (error: Error | null, socket: Duplex) => void;

/**
 * Create agents that connect only to public addresses, whatever the URL or DNS says. They check a literal address in the
 * URL, which is never looked up; every address that a lookup returns, of which a single bad one refuses all; and, as a
 * safeguard, the address at the other end before anything is written.
 *
 * Connections are not reused, so that each attempt looks up and checks again.
 */
export function createAgents({ resolve, allowPrivate }: AgentOptions): { http: http.Agent; https: https.Agent } {
  const isAllowed = (address: string | undefined) => allowPrivate || (address !== undefined && isPublic(address));

  const lookup: LookupFunction = (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const wanted = Number(String(family ?? 0).replace('IPv', '')); // 0 means both families.
        const found = addresses.filter((each) => wanted === 0 || each.family === wanted);
        const [first] = found;
        if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
        else if (!addresses.every(({ address }) => isAllowed(address))) callback(new AddressRefused(hostname), '');
        else if (all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, ''),
    );
  };

  function guarded(host: string | null | undefined, connect: () => Duplex, connected?: Connected): Duplex | undefined {
    if (host && isIP(host) !== 0 && !isAllowed(host)) {
      if (connected) process.nextTick(connected, new AddressRefused(host));
      return undefined;
    }
    const socket = connect() as Socket;
    // This listener runs before those that send the buffered bytes.
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket;
      if (!isAllowed(remoteAddress)) socket.destroy(new AddressRefused(remoteAddress));
    });
    return socket;
  }

  class PlainAgent extends http.Agent {
    override createConnection(options: http.ClientRequestArgs, connected?: Connected) {
      return guarded(options.host, () => super.createConnection(options) as Duplex, connected);
    }
  }
  class TlsAgent extends https.Agent {
    override createConnection(options: https.RequestOptions, connected?: Connected) {
      return guarded(options.host, () => super.createConnection(options) as Duplex, connected);
    }
  }
  // The agent's options override the request's.
  const options = { keepAlive: false, lookup } as http.AgentOptions;
  return { http: new PlainAgent(options), https: new TlsAgent(options) };
}
