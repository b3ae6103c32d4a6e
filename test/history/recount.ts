import type { JobEvent, JobWithEvents } from '@yardmaster/protocol';

const LIMITS = [0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

interface Duration {
  count: number;
  sum: number;
  buckets: Record<string, number>;
}

const nothing = () => ({
  created: 0,
  completed: 0,
  retried: 0,
  dead: 0,
  killed: 0,
  deliveryTimeouts: 0,
  runTimeouts: 0,
  waitSeconds: { count: 0, sum: 0, buckets: {} } as Duration,
  runSeconds: { count: 0, sum: 0, buckets: {} } as Duration,
});

export type Counts = Record<string, ReturnType<typeof nothing>>;

function add(duration: Duration, from: JobEvent, to: JobEvent): void {
  const ms = Date.parse(to.createdAt) - Date.parse(from.createdAt);
  const limit = LIMITS.find((seconds) => ms <= seconds * 1000) ?? 'more';
  duration.count++;
  duration.sum = Math.round(duration.sum * 1000 + ms) / 1000;
  duration.buckets[limit] = (duration.buckets[limit] ?? 0) + 1;
}

const errorOf = ({ data }: JobEvent) => String((data as { error?: unknown } | null)?.error);

const COUNTED = new Set<string>(['created', 'completed', 'retried', 'dead', 'killed']);
const ENDED = new Set<string>(['completed', 'retried', 'dead']);
const isTimeout = (event: JobEvent) => ENDED.has(event.type) && errorOf(event).startsWith('Job timed out');

/** The load reports no progress, so the event before the end of an attempt is its ack. */
function addDuration(its: Counts[string], before: JobEvent, event: JobEvent): void {
  if (event.type === 'delivered') add(its.waitSeconds, before, event);
  if (ENDED.has(event.type) && before.type === 'acked') add(its.runSeconds, before, event);
}

/** Count by name what the histories of jobs say, as the history of their space must show it. */
export function recount(jobs: readonly JobWithEvents[]): Counts {
  const counts: Counts = {};
  for (const { name, events } of jobs) {
    counts[name] ??= nothing();
    const its = counts[name];
    for (const [i, event] of events.entries()) {
      const before = events[i - 1] as JobEvent;
      if (COUNTED.has(event.type)) its[event.type as 'created']++;
      if (event.type === 'delivery_timeout') its.deliveryTimeouts++;
      if (isTimeout(event)) its.runTimeouts++;
      addDuration(its, before, event);
    }
  }
  return counts;
}

/** Add up the points of a history. */
export function totalOf(points: readonly { names: Counts }[]): Counts {
  const total: Counts = {};
  for (const { names } of points) {
    for (const [name, counts] of Object.entries(names)) {
      total[name] ??= nothing();
      merge(total[name] as unknown as Sums, counts as unknown as Sums);
    }
  }
  return total;
}

interface Sums {
  [field: string]: number | Sums;
}

function merge(total: Sums, more: Sums): void {
  for (const [field, value] of Object.entries(more)) {
    if (typeof value === 'number')
      total[field] = Math.round(((total[field] as number) ?? 0) * 1000 + value * 1000) / 1000;
    else merge(total[field] as Sums, value);
  }
}
