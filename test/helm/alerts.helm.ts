import { expect, it } from '@jest/globals';
import { find, LEAST, type Manifest, render } from './chart.js';
import { AS_EXPECTED, afterAnHour, grows, runPromtool, type Series, stays } from './promtool.js';

const { groups } = find(render({ ...LEAST, monitoring: { rules: { enabled: true } } }), 'PrometheusRule').spec;

/** Metrics of an hour of a healthy installation. */
const HEALTHY: Series = {
  'yardmaster_sweep_age_seconds{pod="scheduler-1"}': stays(0.3),
  // One sweeping scheduler is enough.
  'yardmaster_sweep_age_seconds{pod="scheduler-2"}': stays(400),
  'yardmaster_deadline_lag_seconds_bucket{le="1"}': grows(30),
  'yardmaster_deadline_lag_seconds_bucket{le="10"}': grows(30),
  'yardmaster_deadline_lag_seconds_bucket{le="+Inf"}': grows(30),
  'yardmaster_promotion_lag_seconds_bucket{le="1"}': grows(30),
  'yardmaster_promotion_lag_seconds_bucket{le="10"}': grows(30),
  'yardmaster_promotion_lag_seconds_bucket{le="+Inf"}': grows(30),
  'yardmaster_schedule_lag_seconds_bucket{le="1"}': grows(30),
  'yardmaster_schedule_lag_seconds_bucket{le="10"}': grows(30),
  'yardmaster_schedule_lag_seconds_bucket{le="+Inf"}': grows(30),
  'yardmaster_redis_clock_steps_total{direction="back"}': stays(2),
  'yardmaster_queue_oldest_age_seconds{space="demo"}': stays(100),
  'yardmaster_jobs_claimed_total{by="poll"}': grows(100),
  yardmaster_jobs_redelivered_total: grows(1),
  'yardmaster_job_transitions_total{from="running",to="dead"}': stays(500),
  'yardmaster_http_request_duration_seconds_count{status="200"}': grows(1000),
  'yardmaster_http_request_duration_seconds_count{status="503"}': grows(11),
  yardmaster_rejected_keys_total: grows(10),
  yardmaster_overloaded_total: grows(10),
  'yardmaster_http_request_duration_seconds_bucket{le="0.1"}': grows(1000),
  'yardmaster_http_request_duration_seconds_bucket{le="10"}': grows(1000),
  'yardmaster_http_request_duration_seconds_bucket{le="+Inf"}': grows(1000),
  'yardmaster_redis_errors_total{class="full"}': stays(40),
  'yardmaster_redis_errors_total{class="timeout"}': stays(40),
  'yardmaster_redis_unsafe{primary="redis",fault="evicts"}': stays(0),
  yardmaster_callbacks_owed: stays(10),
  yardmaster_callbacks_late_seconds: stays(1),
  'yardmaster_stream_closes_total{code="1000"}': grows(100),
  'yardmaster_stream_closes_total{code="1012"}': stays(7),
  yardmaster_logs_refused_total: stays(3),
  'nodejs_eventloop_lag_p99_seconds{pod="api-1"}': stays(0.02),
};

/** The metrics that differ when exactly one alert must fire. */
const WRONG: Record<string, Series> = {
  YardmasterNoScheduler: {
    'yardmaster_sweep_age_seconds{pod="scheduler-1"}': '0x5 stale',
    'yardmaster_sweep_age_seconds{pod="scheduler-2"}': '0x5 stale',
  },
  YardmasterNotSweeping: { 'yardmaster_sweep_age_seconds{pod="scheduler-1"}': stays(45) },
  YardmasterTimeoutsLate: { 'yardmaster_deadline_lag_seconds_bucket{le="1"}': grows(15) },
  YardmasterScheduledJobsLate: { 'yardmaster_promotion_lag_seconds_bucket{le="1"}': grows(15) },
  YardmasterSchedulesLate: { 'yardmaster_schedule_lag_seconds_bucket{le="1"}': grows(15) },
  YardmasterClockStepped: { 'yardmaster_redis_clock_steps_total{direction="back"}': grows(1) },
  YardmasterJobsWait: { 'yardmaster_queue_oldest_age_seconds{space="demo"}': stays(1000) },
  YardmasterJobsNotAcked: { yardmaster_jobs_redelivered_total: grows(20) },
  YardmasterJobsDie: { 'yardmaster_job_transitions_total{from="running",to="dead"}': grows(1) },
  YardmasterErrors: { 'yardmaster_http_request_duration_seconds_count{status="503"}': grows(100) },
  // Each of these requests also gets a 503.
  YardmasterOverloaded: {
    yardmaster_overloaded_total: grows(100),
    'yardmaster_http_request_duration_seconds_count{status="503"}': grows(101),
  },
  YardmasterKeysRejected: { yardmaster_rejected_keys_total: grows(100) },
  YardmasterSlow: { 'yardmaster_http_request_duration_seconds_bucket{le="0.1"}': grows(900) },
  YardmasterRedisFull: { 'yardmaster_redis_errors_total{class="full"}': grows(2) },
  YardmasterRedisUnsafe: { 'yardmaster_redis_unsafe{primary="redis",fault="evicts"}': stays(1) },
  YardmasterRedisErrors: { 'yardmaster_redis_errors_total{class="timeout"}': grows(10) },
  YardmasterCallbacksLate: { yardmaster_callbacks_late_seconds: stays(90) },
  YardmasterCallbacksOwed: { yardmaster_callbacks_owed: stays(20_000) },
  YardmasterStreamsCutOff: { 'yardmaster_stream_closes_total{code="1012"}': grows(60) },
  YardmasterLogsRefused: { yardmaster_logs_refused_total: grows(1) },
  YardmasterEventLoopBusy: { 'nodejs_eventloop_lag_p99_seconds{pod="api-1"}': stays(0.9) },
};

/** Give a series the labels that the ServiceMonitor adds. */
function scraped(series: string, instance: string): string {
  const [, name, labels] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const added = `namespace="jobs",app_kubernetes_io_instance="${instance}"`;
  return `${name}{${labels ? `${labels},` : ''}${added}}`;
}

/** Check that exactly these alerts fire at the end. */
function firing(series: Series, expected: string[], instance = 'yard') {
  const all = Object.entries(series).map(([name, values]) => [scraped(name, instance), values]);
  const query = 'max by (alertname) (ALERTS{alertstate="firing"})';
  const samples = Object.fromEntries(expected.map((alert) => [`{alertname="${alert}"}`, 1]));
  return afterAnHour(Object.fromEntries(all), [{ query, samples }], groups);
}

it('the chart renders alert rules that promtool accepts', () => {
  const { status, output } = runPromtool(['check', 'rules', 'rules.json'], { 'rules.json': { groups } });
  expect({ status, output }).toEqual({
    status: 0,
    output: expect.stringContaining(`${Object.keys(WRONG).length} rules found`),
  });
});

it('the chart fires no alert for a healthy installation', () => {
  expect(firing(HEALTHY, [])).toEqual(AS_EXPECTED);
});

it('the tests simulate a faulty installation for each alert', () => {
  expect(groups[0].rules.map(({ alert }: Manifest) => alert).sort()).toEqual(Object.keys(WRONG).sort());
});

it.each(Object.entries(WRONG))('a faulty installation fires alert %s and no other', (alert, wrong) => {
  expect(firing({ ...HEALTHY, ...wrong }, [alert])).toEqual(AS_EXPECTED);
});

it('the alert YardmasterErrors fires for gateways alone, which export no yardmaster_overloaded_total', () => {
  const { yardmaster_overloaded_total: _, ...gateways } = { ...HEALTHY, ...WRONG.YardmasterErrors };
  expect(firing(gateways, ['YardmasterErrors'])).toEqual(AS_EXPECTED);
});

it('metrics of another release do not fire an alert', () => {
  const all = Object.assign({}, HEALTHY, ...Object.values(WRONG));
  expect(firing(all, ['YardmasterNoScheduler'], 'another')).toEqual(AS_EXPECTED);
});
