import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import pLimit from 'p-limit';

/** An address of a host. */
export interface Address {
  address: string;
  family: 4 | 6;
}

/** Finds the addresses of a host by its name; throws an error with a `code` as Node does. */
export type Resolve = (hostname: string) => Promise<Address[]>;

/**
 * Threads for each kind of look-up by the system. The system's own look-up blocks one of the four threads that a
 * process has for such work, for as long as a name server takes. So it is the second choice, and uses at most these
 * threads: one for names that only the system can know, one for names that DNS does not know.
 */
const THREADS = 1;

/** Time for the response of one server; each server is asked twice. */
const RESPONSE_MS = 2_000;

/** Time for all DNS queries, however many servers there are. After that, the system is asked. */
const DNS_MS = 5_000;

/**
 * How long one address family waits for the other, because some name servers drop queries for a family that they do not
 * know.
 */
const OTHER_FAMILY_MS = 300;

/** How long a look-up may take. After that, its caller has given up. */
const LOOKUP_MS = 10_000;

/** A name without a dot is not in the public DNS: the hosts file and the search list define its meaning. */
const isLocalName = (hostname: string) => !hostname.replace(/\.$/, '').includes('.');

const notFound = () => Object.assign(new Error('no address'), { code: 'ENOTFOUND' });

/**
 * Create a look-up in which a name server that never responds does not delay other names. DNS is asked without a
 * thread. Only names that DNS does not know are looked up by the system, which also reads the hosts file. Callers that
 * wait for the same name share one response. Nothing is cached.
 *
 * @param servers `address` or `address:port`; the system's when left out
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const dns = new Resolver({ timeout: RESPONSE_MS, tries: 2 });
  if (servers !== undefined) dns.setServers(servers);
  const lanes = { local: pLimit(THREADS), unknown: pLimit(THREADS) };
  const pending = new Map<string, Promise<Address[]>>();

  async function askSystem(hostname: string): Promise<Address[]> {
    const asked = performance.now();
    const found = await lanes[isLocalName(hostname) ? 'local' : 'unknown'](() =>
      performance.now() - asked < LOOKUP_MS ? systemLookup(hostname, { all: true }) : Promise.reject(notFound()),
    );
    return found.map(({ address }) => ({ address, family: isIP(address) as 4 | 6 }));
  }

  async function ask(hostname: string): Promise<Address[]> {
    const addresses = isLocalName(hostname) ? [] : await askDns(dns, hostname);
    return addresses.length > 0 ? addresses : askSystem(hostname);
  }

  return (hostname) => {
    const asked = pending.get(hostname);
    if (asked !== undefined) return asked;
    const response = ask(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, response);
    return response;
  };
}

/** Ask DNS for both address families; the list is empty when no server responds in time. */
function askDns(dns: Resolver, hostname: string): Promise<Address[]> {
  return new Promise((resolve) => {
    const found: Address[] = [];
    let left = 2;
    const end = () => resolve(found);
    let timer = setTimeout(end, DNS_MS);
    const take = (family: 4 | 6, addresses: string[]) => {
      found.push(...addresses.map((address) => ({ address, family })));
      left--;
      clearTimeout(timer);
      if (left === 0) end();
      else timer = setTimeout(end, addresses.length > 0 ? OTHER_FAMILY_MS : DNS_MS);
    };
    const none = (): string[] => [];
    dns.resolve4(hostname).then(
      (addresses) => take(4, addresses),
      () => take(4, none()),
    );
    dns.resolve6(hostname).then(
      (addresses) => take(6, addresses),
      () => take(6, none()),
    );
  });
}
