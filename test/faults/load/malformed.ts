import { gzipSync } from 'node:zlib';
import { ADMIN_KEY } from '../../support/service.js';

const CREATE = '/api/v1/spaces/yard-a/jobs';
const POLL = '/api/v1/spaces/yard-a/jobs/poll';
/** No job has this id; bodies are looked at first. */
const LOGS = `/api/v1/jobs/00${'a'.repeat(26)}/logs`;

const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { ...JSON_TYPE, 'content-encoding': 'gzip' };

/** A request as it goes over the wire, with a body of the length that it says. */
function post(path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE): Buffer {
  const bytes = Buffer.from(body);
  const all = { host: 'yard', 'x-api-key': ADMIN_KEY, connection: 'close', ...headers };
  const lines = Object.entries({ 'content-length': String(bytes.length), ...all });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), bytes]);
}

/** The same with its own framing: whatever stands behind the empty line. */
const framed = (headers: string, behind: string) =>
  Buffer.from(
    `POST ${CREATE} HTTP/1.1\r\nhost: yard\r\nx-api-key: ${ADMIN_KEY}\r\nconnection: close\r\n${headers}\r\n\r\n${behind}`,
    'latin1',
  );

const job = (fields: object) => JSON.stringify({ name: 'bad', payload: {}, ...fields });
const many = (count: number, entry: unknown) => JSON.stringify({ logs: Array.from({ length: count }, () => entry) });

/** Requests that are to be refused with 4xx, by what is wrong with them. */
export const MALFORMED: Record<string, Buffer> = {
  'no JSON': post(CREATE, '{"name":'),
  'nothing at all': post(CREATE, ''),
  'no object': post(CREATE, '[]'),
  'no UTF-8': post(CREATE, Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  'half a surrogate, cut': post(CREATE, Buffer.from([0x7b, 0x22, 0xed, 0xa0])),
  'too deep': post(CREATE, job({ payload: null }).replace('null', '['.repeat(200_000) + ']'.repeat(200_000))),
  'deep, and open': post(CREATE, '['.repeat(500_000)),
  'infinite number': post(CREATE, '{"name":"bad","payload":{"n":1e999}}'),
  'wrong types': post(CREATE, job({ name: 7, maxRetries: 'x', timeoutSeconds: -1 })),
  'foreign callback': post(CREATE, job({ callbackUrl: 'gopher://example.com/' })),
  'headers that break': post(CREATE, job({ callbackUrl: 'http://example.com/', callbackHeaders: { x: 'a\r\nb: c' } })),
  'payload too large': post(CREATE, job({ payload: { x: 'x'.repeat(300_000) } })),
  'body too large': post(CREATE, job({ payload: { x: 'x'.repeat(1_500_000) } })),
  'too many keys': post(CREATE, `{${Array.from({ length: 60_000 }, (_, i) => `"${i}":{}`).join(',')}}`),
  'another type': post(CREATE, job({}), { 'content-type': 'text/html' }),
  'another encoding': post(CREATE, job({}), { ...JSON_TYPE, 'content-encoding': 'br' }),
  'broken gzip': post(CREATE, gzipSync(job({})).subarray(0, 20), GZIP),
  'gzip bomb': post(CREATE, gzipSync(Buffer.alloc(20_000_000, ' ')), GZIP),
  'count of none': post(POLL, '{"count":0}'),
  'count of words': post(POLL, '{"count":"many"}'),
  'bomb of logs': post(LOGS, gzipSync(Buffer.alloc(50_000_000, '{}\n')), {
    'content-type': 'application/x-ndjson',
    'content-encoding': 'gzip',
  }),
  'too many logs': post(LOGS, many(5_000, 'x')),
  'large log': post(LOGS, many(1, 'x'.repeat(20_000))),
  'broken line of logs': post(LOGS, '"a"\n{"b"\n', { 'content-type': 'application/x-ndjson' }),
  'two lengths': framed('content-type: application/json\r\ncontent-length: 2\r\ncontent-length: 5', '{}abc'),
  'negative length': framed('content-type: application/json\r\ncontent-length: -1', '{}'),
  'length and chunks': framed(
    'content-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked',
    '0\r\n\r\n',
  ),
  'chunk of no length': framed('content-type: application/json\r\ntransfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'),
  'chunk too long': framed('content-type: application/json\r\ntransfer-encoding: chunked', `${'f'.repeat(20)}\r\n`),
  'huge header': framed(`x-huge: ${'x'.repeat(100_000)}`, ''),
  'broken header': framed('x-broken\u0000: yes', ''),
  'no host': Buffer.from(`GET ${CREATE} HTTP/1.1\r\nx-api-key: ${ADMIN_KEY}\r\nconnection: close\r\n\r\n`),
  'broken path': Buffer.from(
    `GET /api/v1/spaces/%zz/jobs HTTP/1.1\r\nhost: yard\r\nx-api-key: ${ADMIN_KEY}\r\nconnection: close\r\n\r\n`,
  ),
  'no HTTP': Buffer.from('EHLO yard\r\n\r\n'),
  'a handshake of TLS': Buffer.from('16030100a5010000a10303', 'hex'),
};
