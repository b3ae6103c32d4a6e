import { expect, it } from '@jest/globals';
import { createJobRequest, STATUSES, type Status, TRANSITIONS, type Transition } from '@yardmaster/protocol';
import { partitionOf } from '@yardmaster/store';
import { callJob, createKeyed, expire, type JobVerb, poll, promote, Refusal, type World, worldWith } from './index.js';

// The table of transitions, compared with the model in each status and under each condition. What no row lists, must not
// move a job.

/** A job, and what is sent with a call, under a condition. */
interface Case {
  /** Fields of its create. */
  fields?: object;
  body?: object;
  settings?: object;
  /** How much time passes before the trigger, milliseconds. */
  passes?: number;
}

const LATER = { delaySeconds: 60 };
const LATE = { fields: { startWithinSeconds: 1 }, passes: 4_000_000 };

const CASES: Record<NonNullable<Transition['when']> | 'always', Case> = {
  always: {},
  'retries remain': { fields: { maxRetries: 1, retry: { delaySeconds: 0, jitter: 0 } } },
  'retries remain, with a delay': { fields: { maxRetries: 1, retry: LATER } },
  'no retries remain': {},
  'deliveries remain': {},
  'no deliveries remain': { settings: { maxDeliveries: 1 } },
  'no time is left to start': LATE,
  'at once': { body: { delaySeconds: 0 } },
  'with a delay': { body: LATER },
};

/** The times after which the clock acts, by its trigger, and the statuses in which another trigger comes first. */
const TIMERS: Record<string, { act: typeof expire | typeof promote; passes: number; other: Status[] }> = {
  due: { act: promote, passes: 4_000_000, other: [] },
  start_timeout: { act: promote, passes: 4_000_000, other: [] },
  delivery_timeout: { act: expire, passes: 400_000, other: ['running', 'completed', 'dead', 'killed'] },
  execution_timeout: { act: expire, passes: 400_000, other: ['delivered', 'completed', 'dead', 'killed'] },
};

const UNIQUE = { key: 'one', onConflict: 'replace' };

/** Pull a trigger in a world. */
function pull(world: World, job: string, { trigger, body }: { trigger: string; body: object }): void {
  const timer = TIMERS[trigger];
  if (timer) timer.act(world, { partition: partitionOf('space') });
  else if (trigger === 'poll') poll(world, { space: 'space', count: 1, names: [] });
  else if (trigger === 'replace') {
    const request = createJobRequest.parse({ name: 'work', unique: UNIQUE, ...body });
    createKeyed(world, { space: 'space', request, idempotencyKey: null, id: 'another' });
  } else callJob(world, trigger as JobVerb, { job, body: { error: 'no', percent: 1, ...body } });
}

/** Return what a trigger makes of a job in a status: its status, and the event; null when it changes neither. */
function moveOf(trigger: string, when: keyof typeof CASES, from: Status): { to: Status; event: string | null } | null {
  const { fields = {}, settings, body = {}, passes = TIMERS[trigger]?.passes ?? 0 } = CASES[when];
  const hasStart = trigger === 'start_timeout' ? LATE.fields : {};
  const unique = trigger === 'replace' ? { unique: UNIQUE } : {};
  // The time to start of a job that was created for later begins when it is due.
  const isReturned = trigger === 'start_timeout' && from === 'scheduled';
  const { world, job } = worldWith(isReturned ? 'delivered' : from, { ...fields, ...hasStart, ...unique }, settings);
  if (isReturned) callJob(world, 'release', { job, body: { delaySeconds: 86_400 } });
  const before = { ...world.jobs.get(job) };
  const events = before.events?.length;
  world.now += passes;
  try {
    pull(world, job, { trigger, body });
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
  const after = world.jobs.get(job);
  const event = after?.events[events as number]?.type ?? null;
  return after?.status === from && event === null ? null : { to: after?.status as Status, event };
}

const TRIGGERS = [...new Set(TRANSITIONS.map(({ trigger, when = 'always' }) => `${trigger}: ${when}`))];

it.each(TRIGGERS)('the model and the protocol list the same transitions of %s', (name) => {
  const [trigger, when] = name.split(': ') as [string, keyof typeof CASES];
  const rows = TRANSITIONS.filter((one) => one.trigger === trigger && (one.when ?? 'always') === when);
  // A running job has started in time.
  const other = when === 'no time is left to start' ? ['running'] : (TIMERS[trigger]?.other ?? []);
  const statuses = STATUSES.filter((status) => !other.includes(status));
  const listed = rows.flatMap(({ from, to, event }) =>
    from.filter((status) => status !== to || event !== null).map((status) => [status, { to, event }] as const),
  );
  const made = statuses.flatMap((from) => {
    const move = moveOf(trigger, when, from);
    return move === null ? [] : [[from, move] as const];
  });
  expect(Object.fromEntries(made)).toEqual(Object.fromEntries(listed));
});
