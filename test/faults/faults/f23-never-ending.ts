import { createGzip } from 'node:zlib';
import { ADMIN_KEY } from '../../support/service.js';
import type { Fault } from '../fault.js';
import { type RawRequest, sendRaw } from '../load/raw-request.js';
import { watchMemory } from '../memory.js';

const JOBS = '/api/v1/spaces/yard-a/jobs';
const LOGS = `/api/v1/jobs/00${'a'.repeat(26)}/logs`;

/** Of each kind to each API at once. */
const SENDERS = 3;

/** What an API waits for a request that is never whole, and some seconds until it looks; the rest is a busy machine's. */
const WITHIN_MS = 30_000 + 2_000 + 8_000;

const MOST_MB = 400;

const begin = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nhost: yard\r\nx-api-key: ${ADMIN_KEY}\r\n${headers}`;
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const CHUNKED = 'transfer-encoding: chunked\r\n';
const MANY = Buffer.alloc(65_536, '"more and more"\n');

/** Requests that never end, by what there is no end of. */
const NEVER_ENDING: Record<string, Omit<RawRequest, 'withinMs'>> = {
  'a body': {
    head: `${begin(JOBS, `content-type: application/json\r\n${CHUNKED}`)}\r\n5\r\n{"x":\r\n`,
    again: { bytes: chunk(MANY), everyMs: 20 },
  },
  'a body of a terabyte': {
    head: `${begin(JOBS, 'content-type: application/json\r\ncontent-length: 1000000000000\r\n')}\r\n{"x":`,
    again: { bytes: MANY, everyMs: 20 },
  },
  logs: {
    head: `${begin(LOGS, `content-type: application/x-ndjson\r\n${CHUNKED}`)}\r\n`,
    again: { bytes: chunk(MANY), everyMs: 20 },
  },
  'spaces, gzipped': {
    head: `${begin(LOGS, `content-type: application/json\r\ncontent-encoding: gzip\r\n${CHUNKED}`)}\r\n`,
    again: { bytes: chunk(await blanks()), everyMs: 20 },
  },
  headers: { head: begin(JOBS, ''), again: { bytes: Buffer.from('x-more: and more\r\n'), everyMs: 20 } },
  'a body, byte by byte': {
    head: `${begin(JOBS, 'content-type: application/json\r\ncontent-length: 100000\r\n')}\r\n{"x":"`,
    again: { bytes: Buffer.from('x'), everyMs: 200 },
  },
  'a header, byte by byte': { head: `${begin(JOBS, '')}x-drip: `, again: { bytes: Buffer.from('x'), everyMs: 200 } },
  silence: { head: begin(JOBS, '') },
};

/** A piece of a gzip stream that may be repeated: a block of blanks, behind a beginning that only the first needs. */
async function blanks(): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const pieces: Buffer[] = [];
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  gzip.end(Buffer.alloc(4_000_000, ' '));
  await new Promise((resolve) => gzip.once('end', resolve));
  return Buffer.concat(pieces); // A whole member; one behind the other are one text.
}

export const faults: Fault[] = [
  {
    id: 'F23',
    title: 'requests are sent that never end',
    promises: ['P13'],
    stops: [],
    lastsMs: 1_000,
    async inject({ installation: { apis }, found, figures }) {
      const memory = watchMemory(apis);
      const all = Object.entries(NEVER_ENDING).flatMap(([kind, request]) =>
        apis.flatMap(({ url }) => Array.from({ length: SENDERS }, () => ({ kind, request, url }))),
      );
      const outcomes = await Promise.all(
        all.map(async ({ kind, request, url }) => ({
          kind,
          ...(await sendRaw(url, { ...request, withinMs: WITHIN_MS })),
        })),
      );
      memory.stop();
      for (const { kind, status, isClosed, tookMs } of outcomes) {
        figures[`${kind}, ms`] = Math.max(figures[`${kind}, ms`] ?? 0, tookMs);
        if (!isClosed) found({ jobId: null, says: `${kind} without end was taken for ${tookMs} ms` });
        // Whoever is cut off while sending may not get to see the answer.
        if (status !== null && (status < 400 || status > 499))
          found({ jobId: null, says: `${kind} without end was answered ${status}` });
      }
      figures['API MB'] = memory.mostMb;
      if (memory.mostMb > MOST_MB) found({ jobId: null, says: `an API held ${memory.mostMb} MB` });
      return async () => undefined;
    },
  },
];
