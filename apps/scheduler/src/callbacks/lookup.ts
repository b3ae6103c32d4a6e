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
 * The system's own look-up blocks one of the four threads that a process has for such things, for as long as a name
 * server pleases. So it is the second choice, and takes no more than these: one for names that only the system can
 * know, one for those that DNS does not.
 */
const THREADS = 1;

/** For one server's answer; asked twice. */
const ANSWER_MS = 2_000;

/** For all that is asked of DNS, however many servers there are. After that it is the system's turn. */
const DNS_MS = 5_000;

/** Some name servers drop questions for the family they do not know: the other waits no longer than this. */
const OTHER_FAMILY_MS = 300;

/** Whoever asked has given up by then. */
const PATIENCE_MS = 10_000;

/** A name without a dot is no name of the public DNS: the hosts file and the search list know what it means. */
const isLocalName = (hostname: string) => !hostname.replace(/\.$/, '').includes('.');

const notFound = () => Object.assign(new Error('no address'), { code: 'ENOTFOUND' });

/**
 * Make a look-up that a name server which never answers cannot hold up for others: names are asked of DNS without a
 * thread, and only those that it does not know of the system, which also reads the hosts file. Several callers who
 * wait for the same name share one answer. Nothing is kept.
 *
 * @param servers `address` or `address:port`; the system's when left out
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const dns = new Resolver({ timeout: ANSWER_MS, tries: 2 });
  if (servers !== undefined) dns.setServers(servers);
  const lanes = { local: pLimit(THREADS), unknown: pLimit(THREADS) };
  const pending = new Map<string, Promise<Address[]>>();

  async function askSystem(hostname: string): Promise<Address[]> {
    const asked = performance.now();
    const found = await lanes[isLocalName(hostname) ? 'local' : 'unknown'](() =>
      performance.now() - asked < PATIENCE_MS ? systemLookup(hostname, { all: true }) : Promise.reject(notFound()),
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
    const answer = ask(hostname).finally(() => pending.delete(hostname));
    pending.set(hostname, answer);
    return answer;
  };
}

/** Ask for both families; none when nobody answers in time. */
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
