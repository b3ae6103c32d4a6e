// What workers send: entries of logs, and the bodies of batches in each form that the API takes.
import { gzipSync } from 'node:zlib';

const LEVELS = ['trace', 'debug', 'info', 'info', 'info', 'info', 'warn', 'error'];
/** A number that looks random, always the same for the same n: what compresses too well would flatter gzip. */
const random = (n) => Math.imul(Math.imul(n + 1, 0x9e3779b1) ^ (n >>> 3), 0x85ebca6b) >>> 0;

const MESSAGES = [
  (n) => `resized frame ${n} of 48213 to 1280x720 in ${random(n) % 97} ms`,
  (n) => `GET /v2/assets/${random(n).toString(16)}/original.jpg -> 200, ${random(n) % 65_536} bytes`,
  (n) => `retrying upload of part ${random(n) % 1_000} after connection reset by peer`,
  (n) => `cache miss for user:${random(n)}:preferences, loaded from primary`,
];

/** Objects of some 150 bytes of JSON, half of them with metadata. */
export function realistic(n) {
  return {
    message: MESSAGES[n % MESSAGES.length](n),
    level: LEVELS[random(n) % LEVELS.length],
    timestamp: new Date(1_767_225_600_000 + n * 37).toISOString(),
    ...(n % 8 === 3 ? { source: 'uploader' } : {}),
    ...(n % 2 === 0 ? { metadata: { part: random(n) % 128, region: 'eu-central-1' } } : {}),
  };
}

/** Messages of 80 characters. */
export const plain = (n) => MESSAGES[n % MESSAGES.length](n).padEnd(80, '.').slice(0, 80);

const FORMATS = {
  ndjson: {
    type: 'application/x-ndjson',
    write: (entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
  },
  '{logs}': { type: 'application/json', write: (logs) => JSON.stringify({ logs }) },
};

/** Names of the forms. */
export const FORMS = Object.keys(FORMATS);
export const ENCODINGS = ['gzip', 'identity'];

/** Headers and ready bytes of `count` different batches: what it takes to make them is not to be measured. */
export function bodiesOf({ form, encoding, batch, count }) {
  const { type, write } = FORMATS[form];
  const headers = { 'content-type': type, ...(encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}) };
  const bodies = Array.from({ length: count }, (_, nth) => {
    const text = write(Array.from({ length: batch }, (_, i) => realistic(nth * batch + i)));
    return encoding === 'gzip' ? gzipSync(text) : Buffer.from(text);
  });
  return { headers, bodies };
}
