import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';
import dns, { type Answer, type DecodedPacket } from 'dns-packet';
import { during } from './during.js';

const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** Addresses of both families in their order (and the name they are an alias of), a refusal, or no response at all. */
export type Records =
  | readonly string[]
  | { cname: string; addresses: readonly string[] }
  | Exclude<keyof typeof RCODES, 'NOERROR'>
  | 'silence';

/** The records of a name, or for each look-up its own; look-ups count from 1, for each type of record. */
export type Entry = Records | ((lookUp: number, type: string) => Records);

export interface DnsServer {
  /** As CALLBACK_DNS_SERVERS takes it. */
  address: string;
  /** What is known, by lower-case name. Anything else does not exist. */
  entries: Map<string, Entry>;
  close(): Promise<void>;
}

const familyOf = (type: string) => ({ A: 4, AAAA: 6 })[type];

function answersTo(name: string, type: 'A' | 'AAAA', records: Exclude<Records, string>): Answer[] {
  const { cname, addresses } = 'cname' in records ? records : { cname: undefined, addresses: records };
  const fitting = addresses.filter((address) => net.isIP(address) === familyOf(type));
  return [
    ...(cname ? [{ type: 'CNAME' as const, name, ttl: 0, data: cname }] : []),
    ...fitting.map((data) => ({ type, name: cname ?? name, ttl: 0, data })),
  ];
}

/** A DNS server on 127.0.0.1, over UDP, that says what the test has put into `entries`. */
export async function startDnsServer(): Promise<DnsServer> {
  const entries: DnsServer['entries'] = new Map();
  const lookUps = new Map<string, number>();

  function respond({ id = 0, questions = [] }: DecodedPacket): dns.Packet | null {
    const [question] = questions;
    if (!question) return null;
    const name = question.name.toLowerCase();
    const key = `${question.type} ${name}`;
    const lookUp = (lookUps.get(key) ?? 0) + 1;
    lookUps.set(key, lookUp);
    const entry = entries.get(name) ?? 'NXDOMAIN';
    const records = typeof entry === 'function' ? entry(lookUp, question.type) : entry;
    if (records === 'silence') return null;
    const isFault = typeof records === 'string';
    const flags = dns.RECURSION_DESIRED | dns.RECURSION_AVAILABLE | (isFault ? RCODES[records] : 0);
    const answers = isFault ? [] : answersTo(question.name, question.type as 'A' | 'AAAA', records);
    return { type: 'response', id, flags, questions, answers };
  }

  const socket = dgram.createSocket('udp4');
  socket.on('message', (message, from) => {
    const response = respond(dns.decode(message));
    if (response) socket.send(dns.encode(response), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    entries,
    async close() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** Have a DNS server for all tests of the file, or of the `describe` block. */
export const withDnsServer = (): DnsServer => during(startDnsServer, (server) => server.close());
