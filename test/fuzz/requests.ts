import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { READERS, type Reader } from './readers.js';

type Change = (bytes: Buffer) => Buffer;

export interface FuzzRequest {
  reader: Reader;
  /** Body that the endpoint accepts. */
  body: unknown;
  /** Change of the text of the body. */
  text: Change;
  /** Compression; null for none. */
  gzip: Change | null;
  framing: Framing;
}

interface Framing {
  /**
   * `whole`: HTTP allows it. `refused`: HTTP forbids it. `cut`: the body is incomplete. `any`: the head is changed, so that
   * nothing is known about it.
   */
  is: 'whole' | 'refused' | 'cut' | 'any';
  /** Last lines of the head; `{n}` is the length of the body. */
  lines: string;
  /** The end of a chunked body; absent for a body that is not chunked. */
  end?: string;
  head?: Change;
}

const LENGTH = 'Content-Length: {n}';
const CHUNKED = 'Transfer-Encoding: chunked';
const USUAL: Framing = { is: 'whole', lines: LENGTH };

/** Framings of any body; test/api/connections.test.ts has more, of one. */
const FRAMINGS: readonly Framing[] = [
  { is: 'whole', lines: 'Content-Length: 000{n}' },
  { is: 'whole', lines: 'Content-Length:   {n} ' },
  { is: 'whole', lines: `${LENGTH}\r\nExpect: 100-continue` },
  { is: 'whole', lines: `${LENGTH}\r\nConnection: close` },
  { is: 'whole', lines: `${LENGTH}\r\n__proto__: a\r\nx-empty:` },
  { is: 'whole', lines: CHUNKED, end: '0\r\n\r\n' },
  { is: 'whole', lines: CHUNKED, end: '0;a=b;c="d"\r\nx-trailer: a\r\n\r\n' },
  { is: 'refused', lines: `Content-Length: ${'9'.repeat(40)}` },
  { is: 'refused', lines: 'Content-Length: {n}, {n}' },
  { is: 'refused', lines: `${LENGTH}\r\nHost: other` },
  { is: 'refused', lines: `${LENGTH}\r\nx: a\rb` },
  { is: 'cut', lines: 'Content-Length: {n}5' },
  { is: 'cut', lines: 'Content-Length: 9{n}00000000000' },
  { is: 'cut', lines: CHUNKED, end: '' },
  { is: 'cut', lines: CHUNKED, end: 'zz\r\n' },
  { is: 'cut', lines: CHUNKED, end: `1;${'x'.repeat(40_000)}\r\n \r\n0\r\n\r\n` },
  { is: 'cut', lines: CHUNKED, end: `0\r\nx: ${'y'.repeat(40_000)}\r\n\r\n` },
];

/** Invalid UTF-8 (single bytes, cut off, surrogates, overlong, too large), and what JSON and HTTP treat specially. */
const PIECES = [
  ...'80 ff c3 e282 eda080 c080 f4908080 00 0a 0d0a 7f'.split(' ').map((hex) => Buffer.from(hex, 'hex')),
  ...', : { [ ] } " \\ // 1e999 \u2028 \ufeff % ? #'.split(' ').map((piece) => Buffer.from(piece)),
];

/** Draw changes that differ in what is drawn for them. */
const changing = <T>(drawn: fc.Arbitrary<T>, change: (bytes: Buffer, some: T) => Buffer): fc.Arbitrary<Change> =>
  drawn.map((some) => (bytes) => change(bytes, some));

const piece = fc.oneof(fc.constantFrom(...PIECES), fc.uint8Array());

/** Insert bytes at any place, and remove none, some or all of those behind it. */
const edit = changing(fc.tuple(fc.nat(9_999), fc.constantFrom(0, 0, 1, 4, 1e9), piece), (bytes, [n, removed, some]) => {
  const at = n % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), some, bytes.subarray(at + removed)]);
});

const MB = 1_048_576;

/** Fill a text with blanks up to a limit, just beyond, and far beyond. */
const padded = changing(fc.constantFrom(MB, MB + 1, 5 * MB, 5 * MB + 1, 12 * MB), (text, length) =>
  Buffer.concat([text, Buffer.alloc(Math.max(0, length - text.length), ' ')]),
);
const otherText = changing(fc.oneof(fc.json(), fc.uint8Array()), (_, other) => Buffer.from(other as string));

/** Gzip of 4 MB of blanks. Gzip may have several members, so that a few kilobytes inflate to 200 MB. */
const BLANKS = gzipSync(Buffer.alloc(4 * MB, ' '));
const zipped = changing(fc.constantFrom(0, 0, 0, 1, 2, 50), (text, members) =>
  Buffer.concat([gzipSync(text), ...Array<Buffer>(members).fill(BLANKS)]),
);
const brokenZip = changing(fc.tuple(zipped, edit), (text, [zip, change]) => change(zip(text)));

const HEADERS = ['x-api-key', 'host', 'x-request-id', 'content-type', 'idempotency-key', 'x-delivery-token'];
const byte = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code));
const value = fc.oneof(fc.constant(''), fc.string({ unit: byte }));

/** Give a header any value, or none. */
const otherHeader = changing(fc.tuple(fc.constantFrom(...HEADERS), value), (head, [name, text]) => {
  const line = new RegExp(`\r\n${name}: [^\r]*|$`);
  return Buffer.from(
    head.toString('latin1').replace(line, () => `\r\n${name}: ${text}`),
    'latin1',
  );
});

const anyHead = fc.oneof(edit, otherHeader).map((head): Framing => ({ is: 'any', lines: LENGTH, head }));

type Parts = { [part in 'text' | 'gzip' | 'framing']: fc.Arbitrary<FuzzRequest[part]> };
const requestWith = (parts: Parts): fc.Arbitrary<FuzzRequest> =>
  fc.oneof(...READERS.map((reader) => fc.record({ reader: fc.constant(reader), body: reader.bodies, ...parts })));

const same = fc.constant<Change>((bytes) => bytes);
const usual = { text: fc.oneof(same, edit, otherText), gzip: fc.constant(null), framing: fc.constant(USUAL) };
const unusual = {
  text: fc.oneof({ weight: 5, arbitrary: usual.text }, { weight: 1, arbitrary: fc.oneof(same, padded) }),
  gzip: fc.oneof(usual.gzip, usual.gzip, fc.oneof(zipped, brokenZip, same)),
  framing: fc.oneof(usual.framing, usual.framing, fc.constantFrom(...FRAMINGS), anyHead),
};

/** Draw an unusual request, sometimes with others before it on the same connection. */
export const anyRequests: fc.Arbitrary<FuzzRequest[]> = fc
  .tuple(
    fc.oneof(...[0, 0, 0, 4].map((maxLength) => fc.array(requestWith(usual), { maxLength }))),
    requestWith(unusual),
  )
  .map(([before, last]) => [...before, last]);
