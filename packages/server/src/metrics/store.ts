import { TERMINAL_STATUSES, TRANSITIONS } from '@yardmaster/protocol';
import { REDIS_ERROR_CLASSES, type StoreObserver } from '@yardmaster/store';
import { Counter, Histogram, type Registry } from 'prom-client';
import { createFastCounter, FastHistogram, type Series } from './http.js';

/** Bucket bounds in seconds. A script takes Redis about 10 µs, and a call times out after 1.5 s; the rest is queueing. */
const CALL_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Bucket bounds in seconds. The service promises 2 s, and 5 s after a fault. */
const LAG_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800];

const CREATED = { from: 'none', to: 'pending' };
const SCHEDULED = { from: 'none', to: 'scheduled' };

/** Every possible move of a job between two statuses, so that each series exists, at 0, before the first move. */
const MOVES = [
  CREATED,
  SCHEDULED,
  ...TRANSITIONS.flatMap(({ from, to }) =>
    from.filter((status) => status !== to).map((status) => ({ from: status, to })),
  ),
  ...TERMINAL_STATUSES.map((from) => ({ from, to: 'none' })),
];

/** Create the metrics of the store's verbs. Label values come only from our own lists, so that clients can't add series. */
export function storeMetrics(registry: Registry): StoreObserver {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Counter({ name, help, labelNames, registers });
  const plain = (name: string, help: string) => new Counter({ name, help, registers });

  const calls = new FastHistogram({
    name: 'yardmaster_redis_request_duration_seconds',
    help: 'Time until a Redis call returned or was abandoned, by script or command.',
    labelNames: ['call'],
    buckets: CALL_BUCKETS,
    registry,
  });
  const errors = counter('yardmaster_redis_errors_total', 'Failed Redis calls, by class of error.', ['class']);
  const move = createFastCounter({
    name: 'yardmaster_job_transitions_total',
    help: 'Jobs that this process moved from one status to another; from none: created, to none: purged.',
    labelNames: Object.keys(CREATED) as (keyof typeof CREATED)[],
    registers,
  });
  const claim = createFastCounter({
    name: 'yardmaster_jobs_claimed_total',
    help: 'Jobs claimed, by poll or by ID.',
    labelNames: ['by'],
    registers,
  });
  const poll = createFastCounter({
    name: 'yardmaster_polls_total',
    help: 'Polls that returned jobs (claimed) or none (empty).',
    labelNames: ['outcome'],
    registers,
  });
  const redelivered = plain(
    'yardmaster_jobs_redelivered_total',
    'Jobs that returned to the queue because they were not acked in time.',
  );
  const released = plain('yardmaster_jobs_released_total', 'Jobs that workers released.');
  const unfenced = plain(
    'yardmaster_unfenced_calls_total',
    'Worker calls without a delivery token that took effect in attempt 2 or later.',
  );
  const lag = new Histogram({
    name: 'yardmaster_deadline_lag_seconds',
    help: 'Lag of the oldest deadline in each step of a sweep (up to 100 deadlines of a partition).',
    buckets: LAG_BUCKETS,
    registers,
  });
  const promotionLag = new Histogram({
    name: 'yardmaster_promotion_lag_seconds',
    help: 'Lag of the earliest job in each step that makes scheduled jobs pending (up to 50 jobs of a partition).',
    buckets: LAG_BUCKETS,
    registers,
  });
  const scheduleLag = new Histogram({
    name: 'yardmaster_schedule_lag_seconds',
    help: 'Lag of the earliest schedule in each step that runs schedules (up to 50 of a partition).',
    buckets: LAG_BUCKETS,
    registers,
  });
  const scheduled = plain('yardmaster_schedules_fired_total', 'Times of schedules that created a job.');
  const skipped = plain('yardmaster_schedules_skipped_total', 'Times of schedules that created no job.');
  const logged = plain('yardmaster_log_entries_total', 'Log entries appended to jobs.');
  const refused = plain(
    'yardmaster_logs_refused_total',
    'Batches of logs refused for lack of memory, in this process or in Redis.',
  );
  const cutShort = plain(
    'yardmaster_log_searches_cut_short_total',
    'Log searches that stopped early, with a cursor to continue from.',
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
    fired({ fired, skipped: none, lagMs }) {
      scheduled.inc(fired);
      skipped.inc(none);
      scheduleLag.observe(lagMs / 1000);
    },
    logged: (entries) => logged.inc(entries),
    refusedLogs: () => refused.inc(),
    cutSearchShort: () => cutShort.inc(),
  };
}
