import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Resolves a hostname to its addresses. Throws an error with a `code`, like Node. */
export type Resolve = (hostname: string) => Promise<Address[]>;

/**
 * Threads for each kind of lookup by the operating system. Such a lookup blocks one of a process's four threads for blocking
 * work for as long as a name server takes. So it is a fallback, with at most two threads: one for names that only the system
 * can know, and one for names that DNS doesn't know.
 */
const THREADS = 1;

/** Timeout for the response of a name server, milliseconds; each is asked twice. */
const RESPONSE_MS = 2_000;

/** Timeout for all DNS queries of a name, milliseconds, for any number of name servers. After that, the system is asked. */
const DNS_MS = 5_000;

/** How long to wait for the second address family, milliseconds. Some name servers drop queries for unknown families. */
const OTHER_FAMILY_MS = 300;

/** How long a lookup may take, milliseconds. After that, its caller has given up. */
const LOOKUP_MS = 10_000;

/** Return whether a name has no dot. Such names are not in public DNS, but in the hosts file or the search list. */
const isLocalName = (hostname: string) => !hostname.replace(/\.$/, '').includes('.');

const notFound = () => Object.assign(new Error('no address'), { code: 'ENOTFOUND' });

/**
 * Create a lookup in which a name server that never responds doesn't delay other names. DNS is queried without a thread.
 * Only names that DNS doesn't know are looked up by the operating system, which also reads the hosts file. Callers that wait
 * for the same name share one response. Nothing is cached.
 *
 * @param servers `address` or `address:port`; default: those of the system
 * @see docs/decisions/023-dns-look-up.md for why this is not cacheable-lookup
 */
export function createResolver(servers?: readonly string[]): Resolve {
  const dns = new Resolver({ timeout: RESPONSE_MS, tries: 2 });
  if (servers !== undefined) dns.setServers(servers);
  const threads = { local: pLimit(THREADS), unknown: pLimit(THREADS) };
  const pending = new Map<string, Promise<Address[]>>();

  async function lookupBySystem(hostname: string): Promise<Address[]> {
    const calledAt = performance.now();
    const found = await threads[isLocalName(hostname) ? 'local' : 'unknown'](() =>
      performance.now() - calledAt < LOOKUP_MS ? systemLookup(hostname, { all: true }) : Promise.reject(notFound()),
    );
    return found.map(({ address }) => ({ address, family: isIP(address) as 4 | 6 }));
  }

  async function lookup(hostname: string): Promise<Address[]> {
    const addresses = isLocalName(hostname) ? [] : await lookupByDns(dns, hostname);
    return addresses.length > 0 ? addresses : lookupBySystem(hostname);
  }

  return (hostname) => {
    const begun = pending.get(hostname);
    if (begun !== undefined) return begun;
    const addresses = lookup(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, addresses);
    return addresses;
  };
}

/** Query DNS for both address families. The list is empty if no name server responds in time. */
async function lookupByDns(dns: Resolver, hostname: string): Promise<Address[]> {
  const found: Address[] = [];
  const find = async (family: 4 | 6) => {
    const addresses = await (family === 4 ? dns.resolve4(hostname) : dns.resolve6(hostname)).catch(() => []);
    found.push(...addresses.map((address) => ({ address, family })));
  };
  const ended = new AbortController();
  const after = (ms: number) => delay(ms, undefined, { signal: ended.signal }).catch(() => undefined);
  const families = [find(4), find(6)];
  const both = Promise.all(families);
  const oneOrBoth = families.map(async (one) => {
    await one;
    await (found.length > 0 ? after(OTHER_FAMILY_MS) : both);
  });
  await Promise.race([both, ...oneOrBoth, after(DNS_MS)]);
  ended.abort();
  return [...found];
}
