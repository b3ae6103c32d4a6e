import type { EventType } from '@yardmaster/protocol';
import { WAITS_AGAIN_EVENTS } from '@yardmaster/protocol/transitions';

/** An event of a job, from its history or from its stream. */
export interface HistoryEvent {
  type: EventType;
  data: unknown;
  createdAt: string;
}

/** A period in the life of a job. */
export interface Stretch {
  /** `waiting`: no worker holds it. `delivered`: claimed, but not acked. `running`: an attempt. */
  kind: 'waiting' | 'delivered' | 'running';
  /** Number of the attempt; 0 for the other kinds. */
  attempt: number;
  from: string;
  /** End of the period; null while it lasts. */
  to: string | null;
  /** Type of the event that ended it; null while it lasts. */
  end: EventType | null;
  /** Progress reports and checkpoints. */
  ticks: { type: 'progress' | 'checkpoint'; at: string }[];
}

/** The kind of period that starts with an event; null if the job has ended. Other events start none. */
const BEGINS: Partial<Record<EventType, Stretch['kind'] | null>> = {
  created: 'waiting',
  delivered: 'delivered',
  acked: 'running',
  completed: null,
  dead: null,
  killed: null,
  requeued: 'waiting',
  ...Object.fromEntries([...WAITS_AGAIN_EVENTS].map((type) => [type, 'waiting'])),
};

/** Return the number of attempts after an event. A release of a running job uses up none, and a requeue resets them. */
function attemptAfter(type: EventType, attempt: number, kind: Stretch['kind'] | undefined): number {
  if (type === 'requeued') return 0;
  return type === 'released' && kind === 'running' ? attempt - 1 : attempt;
}

/** Divide the history of a job into periods, oldest first. */
export function stretchesOf(events: readonly HistoryEvent[]): Stretch[] {
  const stretches: Stretch[] = [];
  let attempt = 0;
  const begin = (kind: Stretch['kind'], at: string, end: EventType) => {
    const last = stretches.at(-1);
    if (last?.to === null) Object.assign(last, { to: at, end });
    if (kind === 'running') attempt++;
    stretches.push({ kind, attempt: kind === 'running' ? attempt : 0, from: at, to: null, end: null, ticks: [] });
  };
  for (const { type, createdAt } of events) {
    if (type === 'progress' || type === 'checkpoint') {
      // A long history may no longer contain the ack of the attempt.
      if (stretches.at(-1)?.kind !== 'running') begin('running', createdAt, 'acked');
      stretches.at(-1)?.ticks.push({ type, at: createdAt });
    }
    attempt = attemptAfter(type, attempt, stretches.at(-1)?.kind);
    const kind = BEGINS[type];
    if (kind) begin(kind, createdAt, type);
    else if (kind === null) Object.assign(stretches.at(-1) ?? {}, { to: createdAt, end: type });
  }
  return stretches;
}
