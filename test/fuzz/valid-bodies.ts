import { LOG_LEVELS, SCOPES } from '@yardmaster/protocol';
import type { Random } from '../logs/random.js';
import { oddText } from './odd-values.js';

type Make = (random: Random) => unknown;

const text = (random: Random) => oddText(random) || 'text';
const NAMES = ['work', 'resize', 'crop', 'a.b/c', 'été', 'two words', '__proto__', '🚂'];

/** Names of what a client names itself, those among them that objects have of their own. */
const key = (random: Random, usual: string) =>
  random.of([usual, usual, usual, text(random), random.of(['__proto__', 'constructor', 'toString'])]);

const scalar = (random: Random): unknown =>
  random.of([0, -1.5, 1e21, true, false, null, '', 'x', 'é\ud800', '\0', 2 ** 53, 1e-7]);

/** Any JSON, of a few levels. */
function json(random: Random, levels = 3): unknown {
  if (levels === 0 || random.chance(0.4)) return random.chance(0.5) ? scalar(random) : text(random);
  if (random.chance(0.4)) return Array.from({ length: random.below(5) }, () => json(random, levels - 1));
  return object(random, levels);
}

const object = (random: Random, levels = 3): object =>
  Object.fromEntries(
    Array.from({ length: random.below(5) }, (_, i) => [key(random, `k${i}`), json(random, levels - 1)]),
  );

const sometimes = (random: Random, fields: Record<string, Make>) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(() => random.chance(0.5))
      .map(([name, make]) => [name, make(random)]),
  );

const percent = (random: Random) => random.of([0, 0.5, 42, 99.9, 100]);
const names = (random: Random) => Array.from({ length: random.below(4) }, () => random.of(NAMES));

const stages = (random: Random) =>
  Object.fromEntries(
    Array.from({ length: random.below(4) }, (_, i) => [
      key(random, `s${i}`),
      { percent: percent(random), ...sometimes(random, { message: text }) },
    ]),
  );

const logEntry: Make = (random) =>
  random.chance(0.3)
    ? text(random)
    : {
        message: text(random),
        ...sometimes(random, {
          level: () => random.of(LOG_LEVELS),
          timestamp: () => random.of(['2026-01-31T10:30:04.784Z', '2020-02-28T00:00:00+05:30']),
          source: text,
          metadata: object,
        }),
      };

/** What a client that means well sends, by method and path; undefined is no body. */
export const VALID_BODIES: Record<string, Make> = {
  'POST /api/v1/spaces/:spaceId/jobs': (random) => ({
    name: random.of(NAMES),
    ...sometimes(random, {
      payload: (r) => (r.chance(0.2) ? null : object(r)),
      maxRetries: () => random.of([0, 3, 100]),
      timeoutSeconds: () => random.of([0.001, 300, 86_400]),
      callbackUrl: () => random.of([null, 'http://127.0.0.1:9/', 'https://127.0.0.1:9/x?y=z']),
      callbackHeaders: () => random.of([null, {}, { 'x-token': 'a' }, { 'x-token': 'a', Accept: 'b' }]),
    }),
  }),
  'POST /api/v1/spaces/:spaceId/jobs/poll': (random) =>
    random.chance(0.2)
      ? undefined
      : sometimes(random, {
          count: () => random.of([1, 2, 50, 51, 1e9]),
          type: () => random.of(NAMES),
          types: names,
          name: names,
          names,
        }),
  'POST /api/v1/jobs/:jobId/progress': (random) => ({
    percent: percent(random),
    message: text(random),
    ...sometimes(random, { subProgress: stages }),
  }),
  'POST /api/v1/jobs/:jobId/checkpoint': (random) => (random.chance(0.1) ? undefined : json(random)),
  'POST /api/v1/jobs/:jobId/event': (random) => (random.chance(0.1) ? undefined : json(random)),
  'POST /api/v1/jobs/:jobId/logs': (random) => {
    const entries = Array.from({ length: random.of([1, 2, 5, 40]) }, () => logEntry(random));
    return random.chance(0.4) ? { logs: entries } : entries;
  },
  'POST /api/v1/jobs/:jobId/complete': (random) =>
    random.chance(0.2) ? undefined : sometimes(random, { result: (r) => json(r) }),
  'POST /api/v1/jobs/:jobId/fail': (random) => ({ error: random.chance(0.5) ? text(random) : object(random) }),
  'POST /api/v1/jobs/:jobId/kill': (random) =>
    random.chance(0.2) ? undefined : sometimes(random, { reason: (r) => (r.chance(0.2) ? null : text(r)) }),
  'POST /api/v1/keys': (random) => ({
    name: random.of(NAMES),
    scopes: Array.from({ length: 1 + random.below(3) }, () =>
      random.of(SCOPES.filter((scope) => scope !== 'keys:manage')),
    ),
    ...sometimes(random, {
      spaceId: () => random.of([null, 'demo', 'a.b:c_D-9']),
      expiresAt: () => random.of([null, '2020-01-31T10:30:04.784Z', '2099-01-31T10:30:04+01:00']),
    }),
  }),
};
