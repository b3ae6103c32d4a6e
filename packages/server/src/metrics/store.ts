import { TERMINAL_STATUSES, TRANSITIONS } from '@yardmaster/protocol';
import { REDIS_ERROR_CLASSES, type StoreObserver } from '@yardmaster/store';
import { Counter, Histogram, type Registry } from 'prom-client';
import { createFastCounter, FastHistogram, type Series } from './http.js';

/**
 * Seconds. A script takes Redis some 10 µs, and a call waits 1.5 s at most; above a few ms, a call waits in a queue.
 */
const CALL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Seconds. The service promises 2 s, and 5 s after a fault. */
const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

const CREATED = { from: 'none', to: 'pending' };
const SCHEDULED = { from: 'none', to: 'scheduled' };

/** Every pair of statuses between which a job can move, so that each series exists, at 0, before it first happens. */
const MOVES = [
  CREATED,
  SCHEDULED,
  ...TRANSITIONS.flatMap(({ from, to }) =>
    from.filter((status) => status !== to).map((status) => ({ from: status, to })),
  ),
  ...TERMINAL_STATUSES.map((from) => ({ from, to: 'none' })),
];

/**
 * Create the metrics of the store's verbs. Label values come only from our own lists, so that no client adds a series.
 */
export function storeMetrics(registry: Registry): StoreObserver {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Counter({ name, help, labelNames, registers });
  const plain = (name: string, help: string) => new Counter({ name, help, registers });

  const calls = new FastHistogram({
    name: 'yardmaster_redis_request_duration_seconds',
    help: 'Time until a call to Redis had its reply or was given up, by script or command.',
    labelNames: ['call'],
    buckets: CALL_BUCKETS,
    registry,
  });
  const errors = counter('yardmaster_redis_errors_total', 'Calls to Redis that failed, by class of error.', ['class']);
  const move = createFastCounter({
    name: 'yardmaster_job_transitions_total',
    help: 'Jobs moved by this process from one status to another; from none: created, to none: purged.',
    labelNames: Object.keys(CREATED) as (keyof typeof CREATED)[],
    registers,
  });
  const claim = createFastCounter({
    name: 'yardmaster_jobs_claimed_total',
    help: 'Jobs claimed, by poll or by id.',
    labelNames: ['by'],
    registers,
  });
  const poll = createFastCounter({
    name: 'yardmaster_polls_total',
    help: 'Polls, by whether the response had jobs (claimed) or none (empty).',
    labelNames: ['outcome'],
    registers,
  });
  const redelivered = plain(
    'yardmaster_jobs_redelivered_total',
    'Jobs that are pending again because they were not acked in time.',
  );
  const released = plain('yardmaster_jobs_released_total', 'Jobs that wait again because a worker gave them back.');
  const unfenced = plain(
    'yardmaster_unfenced_calls_total',
    'Calls of workers without a delivery token that took effect in attempt 2 or later.',
  );
  const lag = new Histogram({
    name: 'yardmaster_deadline_lag_seconds',
    help: 'Lateness of the oldest deadline in each step of a sweep (at most 100 deadlines of a partition).',
    buckets: LAG_BUCKETS,
    registers,
  });
  const promotionLag = new Histogram({
    name: 'yardmaster_promotion_lag_seconds',
    help: 'Lateness of the earliest job in each step that makes scheduled jobs pending (at most 50 jobs of a partition).',
    buckets: LAG_BUCKETS,
    registers,
  });
  const logged = plain('yardmaster_log_entries_total', 'Log entries appended to jobs.');
  const refused = plain(
    'yardmaster_logs_refused_total',
    'Batches of logs refused for lack of memory, here or in Redis.',
  );
  const cutShort = plain(
    'yardmaster_log_searches_cut_short_total',
    'Searches in logs that stopped before the end of the log, with a cursor to continue from.',
  );

  const byCall = new Map<string, Series>();
  const moves = new Map(
    MOVES.map(({ from }) => [
      from,
      new Map(MOVES.filter((one) => one.from === from).map((one) => [one.to, move(one)])),
    ]),
  );
  const claimed = { poll: claim({ by: 'poll' }), claim: claim({ by: 'claim' }) };
  const polls = { claimed: poll({ outcome: 'claimed' }), empty: poll({ outcome: 'empty' }) };
  for (const errorClass of REDIS_ERROR_CLASSES) errors.inc({ class: errorClass }, 0);

  return {
    called(call, ms) {
      const series = byCall.get(call) ?? calls.series([call]);
      byCall.set(call, series);
      series.observe(ms / 1000);
    },
    failed: (errorClass) => errors.inc({ class: errorClass }),
    changed({ from, to, jobs = 1, by }) {
      const series = moves.get(from)?.get(to);
      if (series !== undefined) series.count += jobs;
      if (by === 'poll' || by === 'claim') claimed[by].count += jobs;
      if (by === 'release' && to !== 'dead') released.inc(jobs);
      if (by === 'timeout' && from === 'delivered' && to === 'pending') redelivered.inc(jobs);
    },
    polled(jobs) {
      polls[jobs > 0 ? 'claimed' : 'empty'].count++;
    },
    unfenced: () => unfenced.inc(),
    expired: (lagMs) => lag.observe(lagMs / 1000),
    promoted: (lagMs) => promotionLag.observe(lagMs / 1000),
    logged: (entries) => logged.inc(entries),
    refusedLogs: () => refused.inc(),
    cutSearchShort: () => cutShort.inc(),
  };
}
