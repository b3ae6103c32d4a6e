import dgram from 'node:dgram';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import dns, { type Answer, type DecodedPacket } from 'dns-packet';
import { during } from './during.js';

const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** Addresses of both families in order (and the name of an alias), an error code, or no response at all. */
export type Records =
  | readonly string[]
  | { cname: string; addresses: readonly string[] }
  | Exclude<keyof typeof RCODES, 'NOERROR'>
  | 'silence';

/** The records of a name, or a function that returns those of each look-up; look-ups count from 1 per record type. */
export type Entry = Records | ((lookUp: number, type: string) => Records);

export interface DnsServer {
  /** Address of the server, in the form of CALLBACK_DNS_SERVERS. */
  address: string;
  /** Records by lower-case name. Any other name does not exist. */
  entries: Map<string, Entry>;
  close(): Promise<void>;
}

const familyOf = (type: string) => ({ A: 4, AAAA: 6 })[type];

function responsesTo(name: string, type: 'A' | 'AAAA', records: Exclude<Records, string>): Answer[] {
  const { cname, addresses } = 'cname' in records ? records : { cname: undefined, addresses: records };
  const fitting = addresses.filter((address) => net.isIP(address) === familyOf(type));
  return [
    ...(cname ? [{ type: 'CNAME' as const, name, ttl: 0, data: cname }] : []),
    ...fitting.map((data) => ({ type, name: cname ?? name, ttl: 0, data })),
  ];
}

/** Largest response over UDP, in bytes. */
const UDP_BYTES = 512;

/** Start a DNS server on 127.0.0.1, over UDP and TCP, that returns what the test puts into `entries`. */
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
    const responses = isFault ? [] : responsesTo(question.name, question.type as 'A' | 'AAAA', records);
    return { type: 'response', id, flags, questions, answers: responses };
  }

  const sockets = new Set<Socket>();
  const tcp = net.createServer((socket) => {
    let bytes: Buffer = Buffer.alloc(0);
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE()) {
        const end = 2 + bytes.readUInt16BE();
        const response = respond(dns.decode(bytes.subarray(2, end)));
        bytes = bytes.subarray(end);
        if (response) socket.write(dns.streamEncode(response));
      }
    });
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;

  const udp = dgram.createSocket('udp4');
  udp.on('message', (message, from) => {
    const response = respond(dns.decode(message));
    if (!response) return;
    const { flags = 0, answers: responses = [] } = response;
    const isTruncated = dns.encodingLength(response) > UDP_BYTES;
    // Truncate like some servers: keep the first addresses, so that a client must ask again over TCP for all of them.
    const cut = { ...response, flags: flags | dns.TRUNCATED_RESPONSE, answers: responses.slice(0, 10) };
    udp.send(dns.encode(isTruncated ? cut : response), from.port, from.address);
  });
  udp.bind(port, '127.0.0.1');
  async function close() {
    for (const socket of sockets) socket.destroy();
    const closed = [once(udp, 'close'), once(tcp, 'close')];
    udp.close();
    tcp.close();
    await Promise.all(closed);
  }
  try {
    await once(udp, 'listening');
  } catch (error) {
    await close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startDnsServer(); // Another process uses the port over UDP.
  }
  return { address: `127.0.0.1:${port}`, entries, close };
}

/** Start a DNS server for all tests of the file, or of the `describe` block. */
export const withDnsServer = (): DnsServer => during(startDnsServer, (server) => server.close());
