import type { Config } from '@yardmaster/runtime';
import { type Metrics, type ServerContext, sharedRead } from '@yardmaster/server';
import { type Backlog, readBacklog } from '@yardmaster/store';
import { Counter, Gauge } from 'prom-client';
import { FAULTS, type PostOutcome } from './callbacks/http-post.js';

/** Metrics that each callback attempt updates. */
export interface CallbackMetrics {
  began(): void;
  ended(response: PostOutcome): void;
}

const STATUSES = ['1xx', '2xx', '3xx', '4xx', '5xx'];

function outcomeOf(response: PostOutcome): string {
  if ('error' in response) return response.fault;
  // A receiver may send any three digits.
  return STATUSES[Math.floor(response.statusCode / 100) - 1] ?? 'http';
}

export function callbackMetrics({ registry }: Metrics): CallbackMetrics {
  const registers = [registry];
  const attempts = new Counter({
    name: 'yardmaster_callback_attempts_total',
    help: 'Callback attempts, by the class of the response status, or by why there was no response.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of [...STATUSES, ...FAULTS]) attempts.inc({ outcome }, 0);
  const inFlight = new Gauge({
    name: 'yardmaster_callbacks_in_flight',
    help: 'Callback attempts in flight.',
    registers,
  });
  return {
    began: () => inFlight.inc(),
    ended(response) {
      inFlight.dec();
      attempts.inc({ outcome: outcomeOf(response) });
    },
  };
}

/** Metrics that each sweep updates. */
export interface SweepMetrics {
  swept(): void;
  failed(): void;
  /** Count a step of Redis's clock. */
  stepped(direction: 'forward' | 'back'): void;
}

export function sweepMetrics({ registry }: Metrics, idleMs: () => number): SweepMetrics {
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_sweep_age_seconds',
    help: 'Time since a sweep in this process last made progress; from 30 s on, the process is not live.',
    registers,
    collect() {
      this.set(idleMs() / 1000);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const sweeps = counter('yardmaster_sweeps_total', 'Sweeps, including failed ones.');
  const failures = counter('yardmaster_sweep_failures_total', 'Failed sweeps.');
  const steps = new Counter({
    name: 'yardmaster_redis_clock_steps_total',
    help: "Steps of Redis's clock by more than 2 s, forward or back.",
    labelNames: ['direction'],
    registers,
  });
  for (const direction of ['forward', 'back']) steps.inc({ direction }, 0);
  return {
    swept: () => sweeps.inc(),
    failed: () => failures.inc(),
    stepped: (direction) => steps.inc({ direction }),
  };
}

export const METRICS_VARIABLES = ['METRICS_SPACES', 'QUEUE_DEPTH_NAMES'] as const;

interface Row {
  name: string;
  help: string;
  /** Returns the value of a space, or null if it has none. A row without this has one `value` for all spaces. */
  bySpace?: (space: Backlog['spaces'][number]) => number | null;
  /** Whether the row also has a value for each configured name. */
  isByName?: true;
  value?: (backlog: Backlog) => number;
}

const ROWS: readonly Row[] = [
  {
    name: 'yardmaster_queue_depth',
    help: 'Pending jobs of a space (see METRICS_SPACES), or of a name in a space (see QUEUE_DEPTH_NAMES).',
    bySpace: ({ pending }) => pending,
    isByName: true,
  },
  {
    name: 'yardmaster_queue_scheduled_jobs',
    help: 'Scheduled jobs, which cannot be claimed yet, of each space that yardmaster_queue_depth shows.',
    bySpace: ({ scheduled }) => scheduled,
  },
  {
    name: 'yardmaster_queue_oldest_age_seconds',
    help: 'How long the next job in the queue of a space has been waiting.',
    bySpace: ({ oldestAgeSeconds }) => oldestAgeSeconds,
  },
  {
    name: 'yardmaster_space_bytes',
    help: 'Bytes that jobs take up in Redis, of each space with maxBytes that yardmaster_queue_depth shows.',
    bySpace: ({ bytes }) => bytes,
  },
  {
    name: 'yardmaster_queue_pending_jobs',
    help: 'Pending jobs in all spaces that yardmaster_queue_depth shows.',
    value: ({ spaces }) => spaces.reduce((total, { pending }) => total + pending, 0),
  },
  {
    name: 'yardmaster_queue_spaces_left_out',
    help: 'Spaces with jobs that yardmaster_queue_depth does not show.',
    value: ({ spacesLeftOut }) => spacesLeftOut,
  },
  {
    name: 'yardmaster_callbacks_owed',
    help: 'Pending callbacks: due, being attempted, or waiting for their next attempt.',
    value: ({ callbacksPending }) => callbacksPending,
  },
  {
    name: 'yardmaster_callbacks_late_seconds',
    help: 'How long the most overdue callback has been waiting for a scheduler.',
    value: ({ callbacksLateSeconds }) => callbacksLateSeconds,
  },
];

/**
 * Create the gauges of the backlog in Redis. All gauges of a scrape, and simultaneous scrapes, share one reading. If it
 * fails, the gauges have no value instead of an old one.
 */
export function backlogMetrics(
  { store, metrics: { registry } }: ServerContext,
  { METRICS_SPACES, QUEUE_DEPTH_NAMES }: Config<(typeof METRICS_VARIABLES)[number]>,
): void {
  const read = sharedRead(() => readBacklog(store, METRICS_SPACES, QUEUE_DEPTH_NAMES));
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_backlog_up',
    help: 'Whether the gauges read from Redis are present (1) or missing (0).',
    registers,
    async collect() {
      this.set((await read()) === null ? 0 : 1);
    },
  });
  for (const row of ROWS) {
    const labelNames = row.bySpace === undefined ? [] : (['space', 'name'] as const);
    new Gauge({
      name: row.name,
      help: row.help,
      labelNames,
      registers,
      async collect() {
        const backlog = await read();
        this.reset();
        if (row.bySpace === undefined) this.remove(); // `reset` would leave a 0.
        if (backlog !== null) show(this, row, backlog);
      },
    });
  }
}

function show(gauge: Gauge<'space' | 'name'>, { bySpace, isByName, value }: Row, backlog: Backlog): void {
  if (value !== undefined) gauge.set(value(backlog));
  for (const space of bySpace === undefined ? [] : backlog.spaces) {
    const shown = bySpace?.(space) ?? null;
    if (shown !== null) gauge.set({ space: space.spaceId }, shown);
  }
  for (const { spaceId, name, pending } of isByName ? backlog.names : []) gauge.set({ space: spaceId, name }, pending);
}
