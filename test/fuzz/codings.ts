import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Random } from '../logs/random.js';
import { type Body, gzipped } from './body.js';

const MB = 1_048_576;

/** A few kilobytes that become megabytes: just over each limit, and far over. */
const BOMBS = [MB + 1, 2 * MB, 5 * MB + 1, 200 * MB].map((bytes) => {
  const text = Buffer.alloc(bytes);
  return { text, wire: gzipSync(text, { level: 1 }) };
});

const without = (body: Body, name: string) => body.headers.filter(([header]) => header !== name);

const typed = (type: string, is: Body['type']) => (_: Random, body: Body) => ({
  ...body,
  headers: [...without(body, 'content-type'), ['content-type', type]] as Body['headers'],
  type: is,
});

const coded = (coding: string, is: Body['coding']) => (_: Random, body: Body) => ({
  ...body,
  headers: [...body.headers, ['content-encoding', coding]] as Body['headers'],
  coding: is,
});

/** Gzip that is none, or no more. */
const broken = (spoil: (random: Random, gzip: Buffer) => Buffer) => (random: Random, body: Body) => {
  const whole = gzipped(body);
  return { ...whole, wire: spoil(random, Buffer.from(whole.wire)), text: null };
};

const flipped = (gzip: Buffer, at: number) => {
  gzip[at] = (gzip[at] as number) ^ 0xff;
  return gzip;
};

/** What can be said wrongly, or oddly, of a body. */
const CODINGS: readonly ((random: Random, body: Body) => Body)[] = [
  (_, body) => gzipped(body),
  (_, body) => gzipped(body),
  // Of several members, which gzip may have.
  (_, body) => {
    const half = body.wire.length >> 1;
    return {
      ...gzipped(body),
      wire: Buffer.concat([gzipSync(body.wire.subarray(0, half)), gzipSync(body.wire.subarray(half))]),
    };
  },
  (random, body) => ({ ...gzipped(body), ...random.of(BOMBS) }),
  // Of gzip: what comes out is no text.
  (_, body) => ({ ...gzipped(body), wire: gzipSync(gzipSync(body.wire)), text: gzipSync(body.wire) }),
  broken((random, gzip) => gzip.subarray(0, 1 + random.below(gzip.length - 1))),
  broken((_, gzip) => flipped(gzip, gzip.length - 8)),
  broken((_, gzip) => flipped(gzip, gzip.length - 1)),
  broken((_, gzip) => flipped(gzip, 0)),
  broken((_, gzip) => flipped(gzip, 2)),
  (_, body) => ({ ...gzipped(body), wire: body.wire.length > 0 ? body.wire : Buffer.from('{}'), text: null }),
  (_, body) => ({ ...gzipped(body), wire: deflateSync(body.wire), text: null }),
  (_, body) => ({ ...gzipped(body), wire: deflateRawSync(body.wire), text: null }),
  (_, body) => ({ ...gzipped(body), wire: gzipSync(''), text: Buffer.alloc(0) }),
  // Gzip that nobody says is gzip.
  (_, body) => ({ ...body, wire: gzipSync(body.wire), text: gzipSync(body.wire) }),
  coded('identity', 'identity'),
  coded(' Identity ', 'identity'),
  ...['br', 'deflate', 'x-gzip', 'gzip, gzip', 'gzip,identity', 'zstd', 'chunked', '*', 'gzip;q=1'].map((each) =>
    coded(each, 'wrong'),
  ),
  coded('', 'unclear'),
  (_, body) => ({ ...gzipped(body), headers: [...body.headers, ['content-encoding', 'GZIP']] }),
  ...[
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/json; charset="utf-8"',
    'application/json ; a=b',
  ].map((each) => typed(each, 'json')),
  ...[
    'text/plain',
    'application/jsonx',
    'text/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'json',
    '*/*',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'text/html',
    'application',
    '/',
    ';',
    'application/vnd.api+json',
    'application/json, text/plain',
  ].map((each) => typed(each, 'wrong')),
  typed('', 'wrong'),
  typed('application/json; charset=', 'unclear'),
  typed('application/json;;;', 'unclear'),
  (_, body) => ({ ...body, headers: without(body, 'content-type'), type: 'wrong' }),
];

/** A body as it was before it was gzipped. */
const plain = (body: Body): Body => ({
  ...body,
  wire: body.text ?? body.wire,
  headers: without(body, 'content-encoding'),
  coding: 'identity',
});

/** The same body with another content type or content encoding. */
export const recoded = (random: Random, body: Body): Body => random.of(CODINGS)(random, plain(body));
