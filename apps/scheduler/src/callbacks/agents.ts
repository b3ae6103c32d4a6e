import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Resolve } from './dns-lookup.js';
import { isPublic } from './ssrf-guard.js';

/** Error that is thrown instead of connecting to an address that callbacks must not reach. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ERR_ADDRESS_REFUSED';
}

export interface AgentOptions {
  resolve: Resolve;
  /** Whether addresses that are not public may be reached. */
  allowPrivate: boolean;
}

/** Node's callback for a connection that could not be started. */
type Connected = (error: Error | null, socket: Duplex) => void;

/**
 * Create agents that connect to public addresses only, whatever the URL or DNS says. They check the literal address in
 * the URL, which is never looked up. They check each address that a look-up finds, and one bad address refuses all. In
 * case both checks were wrong, they check the address at the other end before anything is written.
 *
 * Connections are not kept, so that each attempt looks up and checks again.
 */
export function createAgents({ resolve, allowPrivate }: AgentOptions): { http: http.Agent; https: https.Agent } {
  const isAllowed = (address: string | undefined) => allowPrivate || (address !== undefined && isPublic(address));

  const lookup: LookupFunction = (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const wanted = Number(String(family ?? 0).replace('IPv', '')); // 0 stands for both families.
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
    // This listener comes before the listeners that send the buffered bytes.
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
  // The agent's options win over the request's.
  const options = { keepAlive: false, lookup } as http.AgentOptions;
  return { http: new PlainAgent(options), https: new TlsAgent(options) };
}
