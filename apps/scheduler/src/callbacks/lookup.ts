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
 * server pleases. So it is the second choice, and takes no more than these.
 */
const THREADS = 2;

/** For one server's answer; asked twice. */
const ANSWER_MS = 2_000;

/** A name without a dot is no name of the public DNS: the hosts file and the search list know what it means. */
const isLocalName = (hostname: string) => !hostname.replace(/\.$/, '').includes('.');

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
  const inTurn = pLimit(THREADS);
  const pending = new Map<string, Promise<Address[]>>();

  async function askDns(hostname: string): Promise<Address[]> {
    // One family may fail where the other answers: some name servers drop what they do not know.
    const [v4, v6] = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
    const addresses: Address[] = [];
    if (v4.status === 'fulfilled') addresses.push(...v4.value.map((address) => ({ address, family: 4 as const })));
    if (v6.status === 'fulfilled') addresses.push(...v6.value.map((address) => ({ address, family: 6 as const })));
    return addresses;
  }

  async function askSystem(hostname: string): Promise<Address[]> {
    const found = await inTurn(() => systemLookup(hostname, { all: true }));
    return found.map(({ address }) => ({ address, family: isIP(address) as 4 | 6 }));
  }

  async function ask(hostname: string): Promise<Address[]> {
    const addresses = isLocalName(hostname) ? [] : await askDns(hostname);
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
