import type { Random } from '../logs/random.js';

/** Bytes that are no UTF-8: alone, cut short, of a surrogate, too long for what they say, beyond the last character. */
const NO_UTF8 = ['80', 'ff', 'c3', 'e282', 'eda080', 'c080', 'f8888080', 'f4908080', 'fe'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const inserted = (text: Buffer, at: number, bytes: Buffer) =>
  Buffer.concat([text.subarray(0, at), bytes, text.subarray(at)]);

const anywhere = (bytes: (random: Random) => Buffer) => (random: Random, text: Buffer) =>
  inserted(text, random.below(text.length + 1), bytes(random));

const BREAKS: readonly ((random: Random, text: Buffer) => Buffer)[] = [
  (random, text) => text.subarray(0, random.below(text.length + 1)),
  (random, text) => text.subarray(0, random.below(text.length + 1)),
  (_, text) => inserted(text, 0, Buffer.from('\ufeff')),
  (_, text) => inserted(text, 0, Buffer.from(' \r\n\t')),
  (_, text) => inserted(text, 0, Buffer.from('\u00a0')),
  (_, text) => inserted(text, text.length, Buffer.from('x')),
  (_, text) => inserted(text, text.length, Buffer.from('\n\n ')),
  (_, text) => inserted(text, text.length, Buffer.from('\0')),
  (_, text) => Buffer.concat([text, text]),
  (_, text) => Buffer.from(text.toString('utf8'), 'utf16le'),
  (_, text) => Buffer.from(text.toString('utf8').replaceAll('"', "'")),
  (_, text) => Buffer.from(text.toString('utf8').replace(/[}\]]/, ',$&')),
  (_, text) => Buffer.from(text.toString('utf8').replace(',', '\r\n,\r\n')),
  (_, text) => Buffer.from(text.toString('utf8').replace(/:/, '=')),
  (_, text) => Buffer.from(text.toString('utf8').replaceAll('}', ']')),
  anywhere((random) => random.of(NO_UTF8)),
  anywhere((random) => random.of(NO_UTF8)),
  anywhere((random) => Buffer.of(random.below(256))),
  anywhere((random) =>
    Buffer.from(random.of([',', ':', '{', '[', ']', '}', '"', '\\', '\n', '\0', '//', '🚂', '\u2028'])),
  ),
  (random, text) => (text.length === 0 ? text : (text.with(random.below(text.length), random.below(256)) as Buffer)),
];

/** A body whose bytes are no JSON any more, or only just. */
export const brokenText = (random: Random, text: Buffer): Buffer => Buffer.from(random.of(BREAKS)(random, text));
