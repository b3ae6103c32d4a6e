import { gzipSync } from 'node:zlib';
import * as raw from '../load/raw-requests.js';
import type { Fault } from '../runs/fault.js';
import { limitMemory } from '../runs/measures.js';
import { repeat } from '../runs/waiting.js';

/** Every refusal has a sentence and a code, whether it comes from a route, the body reader or the HTTP parser. */
const SENTENCE = /^\{"error":"[^"]{10}.*"code":"[A-Z_]+"/;
const SENDERS = 4;
const PAUSE_MS = 30;
const WITHIN_MS = 30_000; // Maximum time for a request with an incomplete body.
const MOST_MB = 400; // An API has about 120 MB under load, plus the bodies that it receives.

const isRefusal = (status: number | null) => status !== null && status >= 400 && status <= 499;
const ENDLESS_SENDERS = 3; // Of each kind to each API.
const ENDLESS_MS = 30_000 + 20_000; // An API waits 30 s for the end of a request; the rest is for a slow machine.

const { CREATE, LOGS, JSON_TYPE, NDJSON_TYPE, GZIP } = raw;
const CHUNKED = { 'transfer-encoding': 'chunked' };
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const MANY = Buffer.alloc(65_536, '"more and more"\n');
/** Gzip members, which can be concatenated. */
const BLANKS = gzipSync(Buffer.alloc(4_000_000, ' '), { level: 9 });
const again = (bytes: string | Buffer, everyMs: number) => ({ bytes: Buffer.from(bytes), everyMs });

/** Requests that never end: path, headers, first bytes after the headers, and bytes that are then repeated. */
const ENDLESS: [kind: string, path: string, headers: object, begins: string, raw.RawRequest['again']?][] = [
  ['a body', CREATE, { ...JSON_TYPE, ...CHUNKED }, '\r\n5\r\n{"x":\r\n', again(chunk(MANY), 20)],
  ['a terabyte', CREATE, { ...JSON_TYPE, 'content-length': '1000000000000' }, '\r\n{"x":', again(MANY, 20)],
  ['logs', LOGS, { ...NDJSON_TYPE, ...CHUNKED }, '\r\n', again(chunk(MANY), 20)],
  ['spaces, gzipped', LOGS, { ...JSON_TYPE, ...CHUNKED, ...GZIP }, '\r\n', again(chunk(BLANKS), 20)],
  ['headers', CREATE, {}, '', again('x-more: and more\r\n', 20)],
  ['a body, byte by byte', CREATE, { ...JSON_TYPE, 'content-length': '100000' }, '\r\n{"x":"', again('x', 200)],
  ['a header, byte by byte', CREATE, {}, 'x-drip: ', again('x', 200)],
  ['a head', CREATE, {}, ''],
];

export const faults: Fault[] = [
  {
    name: 'F22',
    title: `${SENDERS} clients send malformed requests`,
    promises: ['P13'],
    stops: [],
    lastsMs: 10_000,
    async inject(context) {
      const { random, found, figures } = context;
      const { apis } = context.installation;
      const endMemory = limitMemory(context, apis, MOST_MB);
      const kinds = Object.entries(raw.MALFORMED);
      let sent = 0;
      async function sendOne(): Promise<void> {
        const [kind, head] = kinds[sent++ % kinds.length] as [string, Buffer];
        const { status, text, isClosed } = await raw.sendRaw(random.of(apis).url, { head, withinMs: WITHIN_MS });
        if (!isRefusal(status)) found(`${kind} returned ${status}, ${isClosed ? '' : 'not '}closed`);
        else if (!SENTENCE.test(text)) found(`${kind} returned ${text.slice(0, 200)}`);
      }
      const ends = Array.from({ length: SENDERS }, () => repeat(PAUSE_MS, sendOne));
      return async () => {
        await Promise.all(ends.map((end) => end()));
        figures['malformed requests'] = sent;
        endMemory();
      };
    },
  },
  {
    name: 'F23',
    title: 'clients send requests that never end',
    promises: ['P13'],
    stops: [],
    lastsMs: 1_000,
    async inject(context) {
      const { found, figures } = context;
      const { apis } = context.installation;
      const endMemory = limitMemory(context, apis, MOST_MB);
      const send = async ([kind, path, headers, begins, poured]: (typeof ENDLESS)[number], url: string) => {
        const request = { head: `${raw.headOf(path, headers)}${begins}`, ...(poured && { again: poured }) };
        const from = Date.now();
        const { status, isClosed, tookMs } = await raw.sendRaw(url, { ...request, withinMs: ENDLESS_MS });
        const during = { from, until: from + tookMs };
        figures['longest, ms'] = Math.max(figures['longest, ms'] ?? 0, tookMs);
        if (!isClosed) found(`${kind} without end was read for ${tookMs} ms`, { during });
        // A client that is cut off while sending may not get the response.
        if (status !== null && !isRefusal(status)) found(`${kind} without end returned ${status}`);
      };
      const all = apis.flatMap(({ url }) => ENDLESS.map((request) => [request, url] as const));
      const senders = Array.from({ length: ENDLESS_SENDERS }, () => all).flat();
      await Promise.all(senders.map(([request, url]) => send(request, url)));
      endMemory();
      return undefined;
    },
  },
];
