import type { ErrorCode } from '../errors.js';
import type { EventType } from './events.js';
import type { Status } from './statuses.js';

/** Trigger that can move a job. Time-outs are triggers like any call; the clock causes them. */
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
  | 'delivery_timeout'
  | 'execution_timeout';

export interface Transition {
  trigger: Trigger;
  /** Only for triggers whose outcome depends on the retries left, or on the deliveries left (`MAX_DELIVERIES`). */
  when?: 'retries remain' | 'no retries remain' | 'deliveries remain' | 'no deliveries remain';
  from: readonly Status[];
  to: Status;
  /** Event that is recorded and published, or null when the move leaves no trace. */
  event: EventType | null;
}

/**
 * The complete life of a job. A trigger without a row here is refused (see `refusalOf`).
 * A job begins as pending, with the event `created`.
 *
 * @see spec §3
 */
export const TRANSITIONS: readonly Transition[] = [
  { trigger: 'poll', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'claim', from: ['pending'], to: 'delivered', event: 'delivered' },
  { trigger: 'ack', from: ['delivered'], to: 'running', event: 'acked' },
  {
    trigger: 'delivery_timeout',
    when: 'deliveries remain',
    from: ['delivered'],
    to: 'pending',
    event: 'delivery_timeout',
  },
  { trigger: 'delivery_timeout', when: 'no deliveries remain', from: ['delivered'], to: 'dead', event: 'dead' },
  { trigger: 'progress', from: ['running'], to: 'running', event: 'progress' },
  { trigger: 'checkpoint', from: ['running'], to: 'running', event: 'checkpoint' },
  { trigger: 'event', from: ['running'], to: 'running', event: 'event' },
  { trigger: 'keepalive', from: ['running'], to: 'running', event: null },
  { trigger: 'complete', from: ['running'], to: 'completed', event: 'completed' },
  { trigger: 'fail', when: 'retries remain', from: ['running'], to: 'pending', event: 'retried' },
  { trigger: 'fail', when: 'no retries remain', from: ['running'], to: 'dead', event: 'dead' },
  { trigger: 'release', from: ['delivered', 'running'], to: 'pending', event: 'released' },
  { trigger: 'execution_timeout', when: 'retries remain', from: ['running'], to: 'pending', event: 'retried' },
  { trigger: 'execution_timeout', when: 'no retries remain', from: ['running'], to: 'dead', event: 'dead' },
  { trigger: 'kill', from: ['pending', 'delivered', 'running'], to: 'killed', event: 'killed' },
  { trigger: 'kill', from: ['killed'], to: 'killed', event: null },
  { trigger: 'replace', from: ['pending'], to: 'pending', event: 'replaced' },
];

/** Return the status that a job has after an event of a type; null for a type that no transition has. */
export function statusAfter(type: EventType): Status | null {
  return TRANSITIONS.find(({ event }) => event === type)?.to ?? null;
}

const HEARTBEATS: readonly Trigger[] = ['progress', 'checkpoint', 'event', 'keepalive'];

/**
 * Return how a trigger without a row in `TRANSITIONS` is refused.
 *
 * @returns the code of the error, or null when the trigger does nothing: a poll or a claim does not return the job (§3
 *   rule 5), a create that may replace the job leaves it as it is, and a timer ignores a job that has moved on
 * @see spec §3 rules 1, 2 and 5, §7.3
 */
export function refusalOf(trigger: Trigger, status: Status): ErrorCode | null {
  if (trigger === 'ack') return 'JOB_NOT_DELIVERED';
  if (trigger === 'kill') return 'JOB_ENDED';
  if (HEARTBEATS.includes(trigger)) return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  if (trigger === 'complete' || trigger === 'fail') return 'JOB_NOT_RUNNING';
  if (trigger === 'release') return status === 'killed' ? 'JOB_KILLED' : 'JOB_NOT_RUNNING';
  return null;
}
