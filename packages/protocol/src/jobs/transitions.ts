import type { ErrorCode } from '../errors.js';
import type { JsonValue } from '../schema/fields.js';
import type { EventType } from './events.js';
import type { Status } from './statuses.js';

/** What can move a job: a call, or a timeout. */
export type Trigger =
  | 'poll'
  | 'claim'
  | 'ack'
  | 'progress'
  | 'checkpoint'
  | 'event'
  | 'keepalive'
  | 'complete'
  | 'fail'
  | 'release'
  | 'kill'
  | 'replace'
  | 'reschedule'
  | 'requeue'
  | 'due'
  | 'start_timeout'
  | 'delivery_timeout'
  | 'execution_timeout';

/**
 * What the outcome of a trigger depends on: the retries left, the deliveries left (`MAX_DELIVERIES`), a delay, or the
 * start limit (`startWithinSeconds`).
 */
type Condition =
  | 'retries remain'
  | 'retries remain, with a delay'
  | 'no retries remain'
  | 'deliveries remain'
  | 'no deliveries remain'
  | 'no time is left to start'
  | 'at once'
  | 'with a delay';

export interface Transition {
  trigger: Trigger;
  /** Present only for triggers with more than one outcome. */
  when?: Condition;
  from: readonly Status[];
  to: Status;
  /** Event that is recorded and published; null if the transition leaves no trace. */
  event: EventType | null;
}

/** List the outcomes of a failed attempt. */
const failedAttempt = (trigger: 'fail' | 'execution_timeout'): Transition[] => [
  { trigger, when: 'retries remain', from: ['running'], to: 'pending', event: 'retried' },
  { trigger, when: 'retries remain, with a delay', from: ['running'], to: 'scheduled', event: 'retried' },
  { trigger, when: 'no retries remain', from: ['running'], to: 'dead', event: 'dead' },
];

/** Make a transition of a delivery that was not acked in time. */
const deliveryTimeout = (when: Condition, to: Status, event: EventType): Transition => ({
  trigger: 'delivery_timeout',
  when,
  from: ['delivered'],
  to,
  event,
});

/** List the outcomes of a call that reschedules a job. */
const newTime = (
  trigger: 'replace' | 'reschedule' | 'requeue',
  event: EventType,
  from: readonly Status[],
): Transition[] => [
  { trigger, when: 'at once', from, to: 'pending', event },
  { trigger, when: 'with a delay', from, to: 'scheduled', event },
];

/**
 * The complete life cycle of a job. A trigger without a row here is refused (see `refusalOf`). A job is created as
 * pending or, if its time is in the future, as scheduled, with the event `created`.
 *
 * @see docs/api/job.md#statuses
 */
export const TRANSITIONS: readonly Transition[] = [
  { trigger: 'due', from: ['scheduled'], to: 'pending', event: 'ready' },
  { trigger: 'start_timeout', from: ['scheduled', 'pending'], to: 'dead', event: 'dead' },
  { trigger: 'poll', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'claim', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'ack', from: ['delivered'], to: 'running', event: 'acked' },
  deliveryTimeout('deliveries remain', 'pending', 'delivery_timeout'),
  deliveryTimeout('no deliveries remain', 'dead', 'dead'),
  deliveryTimeout('no time is left to start', 'dead', 'dead'),
  { trigger: 'progress', from: ['running'], to: 'running', event: 'progress' },
  { trigger: 'checkpoint', from: ['running'], to: 'running', event: 'checkpoint' },
  { trigger: 'event', from: ['running'], to: 'running', event: 'event' },
  { trigger: 'keepalive', from: ['running'], to: 'running', event: null },
  { trigger: 'complete', from: ['running'], to: 'completed', event: 'completed' },
  ...failedAttempt('fail'),
  { trigger: 'release', when: 'at once', from: ['delivered', 'running'], to: 'pending', event: 'released' },
  { trigger: 'release', when: 'with a delay', from: ['delivered', 'running'], to: 'scheduled', event: 'released' },
  { trigger: 'release', when: 'no time is left to start', from: ['delivered'], to: 'dead', event: 'dead' },
  ...failedAttempt('execution_timeout'),
  { trigger: 'kill', from: ['scheduled', 'pending', 'delivered', 'running'], to: 'killed', event: 'killed' },
  { trigger: 'kill', from: ['killed'], to: 'killed', event: null },
  ...newTime('replace', 'replaced', ['scheduled', 'pending']),
  ...newTime('reschedule', 'rescheduled', ['scheduled', 'pending']),
  ...newTime('requeue', 'requeued', ['dead', 'killed']),
];

/**
 * Return the status of a job after an event; null if no transition has this event. If the event can lead to two statuses,
 * its data tells whether the job is scheduled.
 */
export function statusAfter({ type, data }: { type: EventType; data: JsonValue }): Status | null {
  const to = TRANSITIONS.filter(({ event }) => event === type).map((transition) => transition.to);
  const { scheduledFor } = (data ?? {}) as { scheduledFor?: JsonValue };
  const isScheduled = to.includes('scheduled') && typeof scheduledFor === 'string';
  return isScheduled ? 'scheduled' : (to[0] ?? null);
}

/** Return the types of the events that take a job from its worker and put it into one of these statuses. */
const leavingTo = (...statuses: Status[]): ReadonlySet<string> => {
  const isLeaving = ({ from, to }: Transition) =>
    (from.includes('delivered') || from.includes('running')) && statuses.includes(to);
  return new Set(TRANSITIONS.filter(isLeaving).flatMap(({ event }) => event ?? []));
};

/** Types of events that return a job from its worker to the queue: `retried`, `released` and `delivery_timeout`. */
export const WAITS_AGAIN_EVENTS = leavingTo('pending', 'scheduled');

/** Types of events that tell a worker that it has lost its job: those above, `dead` and `killed`. */
export const JOB_LOST_EVENTS = leavingTo('pending', 'scheduled', 'dead', 'killed');

const HEARTBEATS: readonly Trigger[] = ['progress', 'checkpoint', 'event', 'keepalive'];

/**
 * Return the error with which a trigger without a row in `TRANSITIONS` is refused.
 *
 * @returns the code of the error, or null if the trigger does nothing: a poll or claim doesn't return the job, a create
 *   that may replace the job leaves it unchanged, and a timer ignores a job that has moved on
 * @see docs/api/job.md#statuses
 */
export function refusalOf(trigger: Trigger, status: Status): ErrorCode | null {
  if (trigger === 'ack') return 'JOB_NOT_DELIVERED';
  if (trigger === 'kill') return 'JOB_ENDED';
  if (trigger === 'reschedule') return 'JOB_NOT_PENDING';
  if (trigger === 'requeue') return 'JOB_NOT_DEAD';
  if (HEARTBEATS.includes(trigger)) return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  if (trigger === 'complete' || trigger === 'fail') return 'JOB_NOT_RUNNING';
  if (trigger === 'release') return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  return null;
}
