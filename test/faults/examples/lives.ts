import type { Record } from '../checker.js';
import type { Call } from '../history.js';
import { HANGS } from '../rules/callbacks.js';
import type { Outage } from '../rules/rule.js';
import { callOf, createOf, eventsOf, jobOf, logOf, type MadeUpEvent, pollOf, recordOf, START } from './made-up.js';

// Pieces of runs that examples have in common.

export const URL = 'http://receiver/a';
export const HANGING = `http://receiver${HANGS}a`;
export const SENT = { url: URL, statusCode: 204, attempt: 1, willRetry: false };
export const BORN: MadeUpEvent[] = [['created', 0]];
export const RUNS: MadeUpEvent[] = [...BORN, ['delivered', 100], ['acked', 200]];
export const COMPLETES: MadeUpEvent[] = [...RUNS, ['completed', 500, { token: 'done' }]];
export const TIMED_OUT = { error: 'Job timed out after 1 seconds without a heartbeat' };

export const completed = (events = COMPLETES, fields = {}) =>
  jobOf('a', events, { status: 'completed', result: { token: 'done' }, ...fields });
export const completing = (fields: Partial<Call> = {}) =>
  callOf('complete', 'a', 499, { sent: { result: { token: 'done' } }, ...fields });

/** A job that runs through, with these calls of its worker beside those that it takes. */
export function life(job = completed(), ...more: Record['entries']): Record {
  return recordOf([job], [createOf(job), pollOf('a', 99), callOf('ack', 'a', 199), completing(), ...more]);
}

export const killed = () => jobOf('a', [...BORN, ['killed', 100, { reason: 'no' }]], { status: 'killed' });
export const kill = (token: string, fields = {}) => callOf('kill', 'a', 99, { sent: { reason: token }, ...fields });
export const dead = (data: object, at = 500) => jobOf('a', [...RUNS, ['dead', at, { ...data }]], { status: 'dead' });
export const started = (job: ReturnType<typeof jobOf>) => [createOf(job), pollOf('a', 99), callOf('ack', 'a', 199)];
export const owing = (fields = {}) =>
  completed([...COMPLETES, ['callback_sent', 600, SENT]], { callbackUrl: URL, ...fields });
export const NOT_SENT = { url: URL, error: 'connection reset', attempt: 1, willRetry: true };
/** Events of a job that completes and then owes its callback. */
export const owed = (...attempts: MadeUpEvent[]) => eventsOf('a', [...COMPLETES, ...attempts]);
export const redelivered: MadeUpEvent[] = [
  ...BORN,
  ['delivered', 100],
  ['delivery_timeout', 2_101],
  ['delivered', 2_200],
];
export const outage = (
  stops: Outage['stops'],
  from: number,
  until: number,
  { hit = [], closes = [] }: Partial<Pick<Outage, 'hit' | 'closes'>> = {},
) => ({
  outages: [{ stops, hit, closes, from: START + from, until: START + until }],
});
export const logged = (...messages: string[]) =>
  completed(COMPLETES, { logs: messages.map((text, i) => logOf('a', i + 1, text)) });
export const logging = (fields = {}) =>
  callOf('logs', 'a', 300, { sent: ['x 1', 'x 2'], body: { fromSeq: 1, toSeq: 2 }, ...fields });
export const notThere = recordOf([], []);
export const quiet = jobOf('a', BORN, { status: 'pending' });
export const space = { scope: 'space', jobId: null, spaceId: 'yard', closed: null } as const;
