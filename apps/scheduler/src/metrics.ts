import type { Config } from '@yardmaster/runtime';
import { type Metrics, type ServerContext, sharedRead } from '@yardmaster/server';
import { type Backlog, readBacklog } from '@yardmaster/store';
import { Counter, Gauge } from 'prom-client';
import { FAULTS, type PostOutcome } from './callbacks/http-post.js';

/** Metrics that each attempt at a callback updates. */
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
    help: 'Attempts at callbacks, by the class of the response status, or by why there was no response.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of [...STATUSES, ...FAULTS]) attempts.inc({ outcome }, 0);
  const inFlight = new Gauge({
    name: 'yardmaster_callbacks_in_flight',
    help: 'Attempts at callbacks that are being made now.',
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
  /** A step of Redis' clock was noticed. */
  stepped(direction: 'forward' | 'back'): void;
}

export function sweepMetrics({ registry }: Metrics, idleMs: () => number): SweepMetrics {
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_sweep_age_seconds',
    help: 'Time since a sweep for deadlines in this process last made progress; from 30 s on, it is not live.',
    registers,
    collect() {
      this.set(idleMs() / 1000);
    },
  });
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const sweeps = counter('yardmaster_sweeps_total', 'Sweeps for deadlines, including those that failed.');
  const failures = counter('yardmaster_sweep_failures_total', 'Sweeps for deadlines that failed.');
  const steps = new Counter({
    name: 'yardmaster_redis_clock_steps_total',
    help: "Steps of Redis' clock of more than 2 s that this process has noticed, forward or back.",
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
  /** Value for each space, null for a space without one. A row without this has one `value` for all spaces. */
  bySpace?: (space: Backlog['spaces'][number]) => number | null;
  /** Whether it also has a value for each configured name. */
  isByName?: true;
  value?: (backlog: Backlog) => number;
}

const ROWS: readonly Row[] = [
  {
    name: 'yardmaster_queue_depth',
    help: 'Pending jobs of a space, see METRICS_SPACES; with a name, those of this name, see QUEUE_DEPTH_NAMES.',
    bySpace: ({ pending }) => pending,
    isByName: true,
  },
  {
    name: 'yardmaster_queue_scheduled_jobs',
    help: 'Scheduled jobs of a space, for the spaces that yardmaster_queue_depth shows; they cannot be claimed yet.',
    bySpace: ({ scheduled }) => scheduled,
  },
  {
    name: 'yardmaster_queue_oldest_age_seconds',
    help: 'How long the next job to be claimed in a space has been waiting.',
    bySpace: ({ oldestAgeSeconds }) => oldestAgeSeconds,
  },
  {
    name: 'yardmaster_space_bytes',
    help: 'Bytes that the jobs of a space with maxBytes take in Redis, for the spaces that yardmaster_queue_depth shows.',
    bySpace: ({ bytes }) => bytes,
  },
  {
    name: 'yardmaster_queue_pending_jobs',
    help: 'Pending jobs of all spaces that yardmaster_queue_depth shows.',
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
 * Create the gauges of the backlog in Redis. One reading serves a whole scrape, and all scrapes at the same time. When
 * the reading fails, the gauges have no value instead of an old one.
 */
export function backlogMetrics(
  { store, metrics: { registry } }: ServerContext,
  { METRICS_SPACES, QUEUE_DEPTH_NAMES }: Config<(typeof METRICS_VARIABLES)[number]>,
): void {
  const read = sharedRead(() => readBacklog(store, METRICS_SPACES, QUEUE_DEPTH_NAMES));
  const registers = [registry];
  new Gauge({
    name: 'yardmaster_backlog_up',
    help: 'Whether the gauges that are read from Redis could be read (1) or are missing (0).',
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
        if (row.bySpace === undefined) this.remove(); // Remove the value, because `reset` would leave a 0.
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
