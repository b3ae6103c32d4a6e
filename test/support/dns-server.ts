import dgram from 'node:dgram';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import dns, { type Answer, type DecodedPacket } from 'dns-packet';

const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;

/** Addresses of both families in their order (and the name they are an alias of), a refusal, or no answer at all. */
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
  names: Map<string, Entry>;
  /** Every question so far: `A name`. */
  asked: string[];
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

/** A DNS server on 127.0.0.1, over UDP and TCP, that tells what the test has put into `names`. */
export async function startDnsServer(): Promise<DnsServer> {
  const names: DnsServer['names'] = new Map();
  const asked: string[] = [];

  function answer({ id = 0, questions = [] }: DecodedPacket): dns.Packet | null {
    const [question] = questions;
    if (!question) return null;
    const name = question.name.toLowerCase();
    const key = `${question.type} ${name}`;
    asked.push(key);
    const entry = names.get(name) ?? 'NXDOMAIN';
    const lookUp = asked.filter((each) => each === key).length;
    const records = typeof entry === 'function' ? entry(lookUp, question.type) : entry;
    if (records === 'silence') return null;
    const isFault = typeof records === 'string';
    const flags = dns.RECURSION_DESIRED | dns.RECURSION_AVAILABLE | (isFault ? RCODES[records] : 0);
    const answers = isFault ? [] : answersTo(question.name, question.type as 'A' | 'AAAA', records);
    return { type: 'response', id, flags, questions, answers };
  }

  const sockets = new Set<Socket>();
  const tcp = net.createServer((socket) => {
    sockets.add(socket);
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
        const end = 2 + bytes.readUInt16BE(0);
        const response = answer(dns.decode(bytes.subarray(2, end)));
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
    const response = answer(dns.decode(message));
    if (!response) return;
    const bytes = dns.encode(response);
    // What every client takes; a longer answer is asked for again over TCP.
    const fits = bytes.length <= 512;
    const truncated = { ...response, flags: (response.flags ?? 0) | dns.TRUNCATED_RESPONSE, answers: [] };
    udp.send(fits ? bytes : dns.encode(truncated), from.port, from.address);
  });
  udp.bind(port, '127.0.0.1');
  try {
    await once(udp, 'listening');
  } catch (error) {
    udp.close();
    tcp.close();
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return startDnsServer(); // UDP's ports are others.
    throw error;
  }

  return {
    address: `127.0.0.1:${port}`,
    names,
    asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      const closed = [once(udp, 'close'), once(tcp, 'close')];
      udp.close();
      tcp.close();
      await Promise.all(closed);
    },
  };
}
