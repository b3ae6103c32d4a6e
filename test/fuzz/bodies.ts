import { deflateSync, gzipSync } from 'node:zlib';
import type { Route } from '@yardmaster/api';
import fc from 'fast-check';
import { mutated, textOf } from './json-text.js';
import { fieldsOf, inLists, readsBody, validInput } from './schema-values.js';

/** A body of a request, and how it is encoded. */
export interface Body {
  /** As sent, before it is split into chunks. */
  wire: Buffer;
  /** Its text, inflated; null when it cannot be inflated. */
  text: Buffer | null;
  /** Content-Encoding; '' for none. Types and codings that are not supported are in test/api/invalid-input.test.ts. */
  coding: string;
  isLines: boolean;
}

function bodyOf(text: string | Buffer, isLines = false): Body {
  const wire = Buffer.from(text as string);
  return { wire, text: wire, coding: '', isLines };
}

/** Invalid UTF-8 (single bytes, truncated, surrogates, overlong), and the characters of JSON's syntax. */
const PIECES = [
  ...'80 ff c3 e282 eda080 c080 f4908080 00 0a'.split(' ').map((hex) => Buffer.from(hex, 'hex')),
  ...[',', ':', '{', '[', ']', '}', '"', '\\', '//', '🚂', '\u2028', '\ufeff', 'x'].map((text) => Buffer.from(text)),
];

/** Spaces that bring a body or a batch of logs to its limit, and far beyond both. */
const BLANKS = [1_048_576, 1_048_577, 5_242_880, 5_242_881, 12_000_000].map((length) => Buffer.alloc(length, ' '));

/** Corrupt the bytes of a text so that it is barely JSON, or no longer. */
const corrupted = (body: fc.Arbitrary<Body>): fc.Arbitrary<Body> =>
  fc
    .tuple(body, fc.nat(2_000), fc.constantFrom(...PIECES), fc.nat(9), fc.constantFrom(...BLANKS))
    .map(([{ wire, isLines }, at, piece, how, blanks]) => {
      const [head, tail] = [wire.subarray(0, at), wire.subarray(at)];
      if (how === 0) return bodyOf(Buffer.concat([wire, blanks.subarray(wire.length)]), isLines);
      if (how === 1) return bodyOf(Buffer.from(wire.toString(), 'utf16le'), isLines);
      return bodyOf(Buffer.concat(how < 5 ? [head] : how < 7 ? [wire, piece] : [head, piece, tail]), isLines);
    });

type Gzip = (text: Buffer) => { wire: Uint8Array; text?: Buffer | null };

/** A few kilobytes that inflate to megabytes: slightly over each limit, and far over. */
const BOMBS = [1_048_577, 5_242_881, 200 * 1_048_576].map((bytes) => {
  const text = Buffer.alloc(bytes);
  return { text, wire: gzipSync(text, { level: 1 }) };
});

const flipped = (bytes: Buffer, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 0xff : byte));

/** Gzip in one member, in two, of nothing, of gzip, and of far too much; and broken gzip. */
const GZIPS: readonly Gzip[] = [
  ...Array<Gzip>(4).fill((text) => ({ wire: gzipSync(text) })),
  (text) => ({ wire: Buffer.concat([gzipSync(text.subarray(0, 9)), gzipSync(text.subarray(9))]) }),
  () => ({ wire: gzipSync(''), text: Buffer.alloc(0) }),
  (text) => ({ wire: gzipSync(gzipSync(text)), text: gzipSync(text) }),
  ...BOMBS.map(
    (bomb): Gzip =>
      () =>
        bomb,
  ),
  ...[1, 5, -1, -5].map(
    (end): Gzip =>
      (text) => ({ wire: gzipSync(text).subarray(0, end), text: null }),
  ),
  ...[0, 2].map(
    (at): Gzip =>
      (text) => ({ wire: flipped(gzipSync(text), at), text: null }),
  ),
  (text) => ({ wire: flipped(gzipSync(text), gzipSync(text).length - 8), text: null }),
  (text) => ({ wire: deflateSync(text), text: null }),
];

/** Draw valid bodies of an endpoint and three kinds of others, also for endpoints that read no body. */
export function bodiesFor(route: Route) {
  const values = readsBody(route) ? validInput(route) : fc.constant({});
  const written = (some: fc.Arbitrary<unknown>) =>
    fc.tuple(some, fc.constantFrom(null, null, '\n', ' \r\n\n')).map(([value, lineEnd]) => {
      const isLines = route.readBody !== undefined && Array.isArray(value) && lineEnd !== null;
      return isLines ? bodyOf(value.map(textOf).join(lineEnd), true) : bodyOf(textOf(value));
    });
  const usual = written(inLists(route, values));
  const json = written(inLists(route, mutated(values, fieldsOf(route))));
  const compressed = fc
    .tuple(fc.oneof(usual, json), fc.constantFrom(...GZIPS), fc.constantFrom('gzip', 'gzip', 'GZIP'))
    .map(([body, gzip, coding]): Body => ({ ...body, ...(gzip(body.wire) as { wire: Buffer }), coding }));
  const valid: fc.Arbitrary<Body | null> = readsBody(route) ? fc.option(usual, { freq: 9 }) : fc.constant(null);
  return { valid, json, text: corrupted(usual), gzip: compressed };
}
