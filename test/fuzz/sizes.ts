import type { Random } from '../logs/random.js';
import { type Body, gzipped, jsonBody, ndjsonBody } from './body.js';
import { textOf, written } from './json-text.js';

const KB = 1_024;
const EVENT = 64 * KB;
const PAYLOAD = 256 * KB;
const BODY = 1_024 * KB;
const LOG_ENTRY = 16 * KB;
const LOG_BATCH = 5 * BODY;

/** A piece of text, as it is sent, and how many bytes of JSON it is kept as. */
const PIECES: readonly [sent: string, bytes: number][] = [
  ['x', 1],
  ['é', 2],
  ['\\u00e9', 2],
  ['🚂', 4],
  ['\\u0001', 6],
  ['\\ud800', 6],
  ['\\"', 2],
];

/** A string whose JSON has this many bytes. */
function stringOf(random: Random, bytes: number): string {
  const [sent, each] = random.of(PIECES);
  const times = Math.floor((bytes - 2) / each);
  return `"${sent.repeat(times)}${'x'.repeat(bytes - 2 - times * each)}"`;
}

/** How far from a limit. */
const near = (random: Random, limit: number) => limit + random.of([-1, 0, 0, 1, 2, 500]);

/** Where a part of a body that has a limit of its own stands in it. `{}` is that part. */
const PARTS: Record<string, [limit: number, around: string, overhead: number]> = {
  'POST /api/v1/spaces/:spaceId/jobs': [PAYLOAD, '{"name":"work","payload":{"a":@}}', 6],
  'POST /api/v1/jobs/:jobId/progress': [EVENT, '{"percent":1,"message":@}', 24],
  'POST /api/v1/jobs/:jobId/checkpoint': [EVENT, '@', 0],
  'POST /api/v1/jobs/:jobId/event': [EVENT, '[@]', 2],
  'POST /api/v1/jobs/:jobId/logs': [LOG_ENTRY, '["a",{"message":@}]', 20],
  'POST /api/v1/jobs/:jobId/complete': [PAYLOAD, '{"result":@}', 0],
  'POST /api/v1/jobs/:jobId/fail': [EVENT, '{"error":@}', 0],
  'POST /api/v1/jobs/:jobId/kill': [EVENT, '{"reason":@}', 0],
};

/** A part at the edge of what it may be. */
function largePart(random: Random, name: string): Body {
  const [limit, around, overhead] = PARTS[name] ?? [BODY / 2, '{"name":"a","scopes":@}', 0];
  return jsonBody(around.replace('@', () => stringOf(random, near(random, limit) - overhead)));
}

/** A valid body with blanks behind it, up to a limit of the whole. */
function padded(valid: string, bytes: number): Body {
  return jsonBody(valid + ' '.repeat(Math.max(0, bytes - Buffer.byteLength(valid))));
}

/** Numbers that are short on the wire and long as they are kept. */
const grown = (random: Random) =>
  jsonBody(
    `{"percent":1,"message":"a","name":"a","error":{"a":[${Array(random.of([2_900, 3_000, 12_000]))
      .fill('1e20')
      .join(',')}]}}`,
  );

/** A body at the edge of what a body, or a part of it, may be: on the wire, inflated, or as it is kept. */
export function sizedBody(random: Random, name: string, valid: unknown): Body {
  const isLogs = name.endsWith('/logs');
  const text = valid === undefined ? '{}' : textOf(written(valid));
  const die = random.below(10);
  if (die < 5) return largePart(random, name);
  if (die === 5) return padded(text, near(random, BODY));
  if (die === 6) return gzipped(padded(text, near(random, isLogs ? LOG_BATCH : BODY)));
  if (die === 7) return grown(random);
  if (die === 8)
    return jsonBody(
      `[${Array(random.of([999, 1_000, 1_001, 100_000]))
        .fill('"a"')
        .join(',')}]`,
    );
  return isLogs ? ndjsonBody('"a"\n\n'.repeat(random.of([999, 1_000, 1_001]))) : padded(text, random.of([2, 3]) * BODY);
}
