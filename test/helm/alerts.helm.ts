import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { installed } from '../support/installed.js';
import { find, LEAST, type Manifest, render } from './chart.js';

const promtool = installed('promtool', 'prometheus');
const folder = mkdtempSync(join(tmpdir(), 'yardmaster-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { groups } = find(render({ ...LEAST, monitoring: { rules: { enabled: true } } }), 'PrometheusRule').spec;
const ruleFile = join(folder, 'rules.json');
writeFileSync(ruleFile, JSON.stringify({ groups })); // JSON is YAML.

/** Every 30 s for an hour: a figure that stays, or one that grows by so much each time. */
const stays = (value: number) => `${value}+0x120`;
const grows = (by: number) => `0+${by}x120`;

type Series = Record<string, string>;

/** An hour of an installation with which nothing is wrong. */
const HEALTHY: Series = {
  'yardmaster_sweep_age_seconds{pod="scheduler-1"}': stays(0.3),
  // One of them is enough.
  'yardmaster_sweep_age_seconds{pod="scheduler-2"}': stays(400),
  'yardmaster_deadline_lag_seconds_bucket{le="1"}': grows(30),
  'yardmaster_deadline_lag_seconds_bucket{le="10"}': grows(30),
  'yardmaster_deadline_lag_seconds_bucket{le="+Inf"}': grows(30),
  'yardmaster_queue_oldest_age_seconds{space="demo"}': stays(100),
  'yardmaster_jobs_claimed_total{by="poll"}': grows(100),
  yardmaster_jobs_redelivered_total: grows(1),
  'yardmaster_job_transitions_total{from="running",to="dead"}': stays(500),
  'yardmaster_http_request_duration_seconds_count{status="200"}': grows(1000),
  'yardmaster_http_request_duration_seconds_count{status="503"}': grows(1),
  'yardmaster_http_request_duration_seconds_bucket{le="0.1"}': grows(1000),
  'yardmaster_http_request_duration_seconds_bucket{le="10"}': grows(1000),
  'yardmaster_http_request_duration_seconds_bucket{le="+Inf"}': grows(1000),
  'yardmaster_redis_errors_total{class="full"}': stays(40),
  'yardmaster_redis_errors_total{class="timeout"}': stays(40),
  yardmaster_callbacks_owed: stays(10),
  yardmaster_callbacks_late_seconds: stays(1),
  'yardmaster_stream_closes_total{code="1000"}': grows(100),
  'yardmaster_stream_closes_total{code="1012"}': stays(7),
  yardmaster_logs_refused_total: stays(3),
  'nodejs_eventloop_lag_p99_seconds{pod="api-1"}': stays(0.02),
};

/** What is otherwise when an alert, and it alone, is due. */
const WRONG: Record<string, Series> = {
  YardmasterNoScheduler: {
    'yardmaster_sweep_age_seconds{pod="scheduler-1"}': '0x5 stale',
    'yardmaster_sweep_age_seconds{pod="scheduler-2"}': '0x5 stale',
  },
  YardmasterNotSweeping: { 'yardmaster_sweep_age_seconds{pod="scheduler-1"}': stays(45) },
  YardmasterTimeoutsLate: { 'yardmaster_deadline_lag_seconds_bucket{le="1"}': grows(15) },
  YardmasterJobsWait: { 'yardmaster_queue_oldest_age_seconds{space="demo"}': stays(1000) },
  YardmasterJobsNotAcked: { yardmaster_jobs_redelivered_total: grows(20) },
  YardmasterJobsDie: { 'yardmaster_job_transitions_total{from="running",to="dead"}': grows(1) },
  YardmasterErrors: { 'yardmaster_http_request_duration_seconds_count{status="503"}': grows(100) },
  YardmasterSlow: { 'yardmaster_http_request_duration_seconds_bucket{le="0.1"}': grows(900) },
  YardmasterRedisFull: { 'yardmaster_redis_errors_total{class="full"}': grows(2) },
  YardmasterRedisErrors: { 'yardmaster_redis_errors_total{class="timeout"}': grows(10) },
  YardmasterCallbacksLate: { yardmaster_callbacks_late_seconds: stays(90) },
  YardmasterCallbacksOwed: { yardmaster_callbacks_owed: stays(20_000) },
  YardmasterStreamsCutOff: { 'yardmaster_stream_closes_total{code="1012"}': grows(60) },
  YardmasterLogsRefused: { yardmaster_logs_refused_total: grows(1) },
  YardmasterEventLoopBusy: { 'nodejs_eventloop_lag_p99_seconds{pod="api-1"}': stays(0.9) },
};

/** Give a series the labels that the PodMonitor adds. */
function scraped(series: string, instance: string): string {
  const [, name, labels] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const added = `namespace="jobs",app_kubernetes_io_instance="${instance}"`;
  return `${name}{${labels ? `${labels},` : ''}${added}}`;
}

/** Let promtool run the rules over an hour, and say which alerts it should find firing near its end. */
function firing(series: Series, expected: string[], instance = 'yard') {
  const test = {
    rule_files: [ruleFile],
    evaluation_interval: '30s',
    tests: [
      {
        interval: '30s',
        input_series: Object.entries(series).map(([name, values]) => ({ series: scraped(name, instance), values })),
        promql_expr_test: [
          {
            expr: 'max by (alertname) (ALERTS{alertstate="firing"})',
            eval_time: '58m',
            exp_samples: expected.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
          },
        ],
      },
    ],
  };
  const file = join(folder, 'test.json');
  writeFileSync(file, JSON.stringify(test));
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  return { status, said: status === 0 ? '' : stdout + stderr };
}

const FOUND = { status: 0, said: '' };

it('has rules that promtool accepts', () => {
  const { status, stdout } = spawnSync(promtool, ['check', 'rules', ruleFile], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('15 rules found') });
});

it('is quiet while nothing is wrong', () => {
  expect(firing(HEALTHY, [])).toEqual(FOUND);
});

it('knows for each alert what is wrong then', () => {
  expect(groups[0].rules.map(({ alert }: Manifest) => alert).sort()).toEqual(Object.keys(WRONG).sort());
});

it.each(Object.entries(WRONG))('gives alert %s, and no other', (alert, wrong) => {
  expect(firing({ ...HEALTHY, ...wrong }, [alert])).toEqual(FOUND);
});

it('leaves other releases to their own rules', () => {
  const all = Object.assign({}, HEALTHY, ...Object.values(WRONG));
  expect(firing(all, ['YardmasterNoScheduler'], 'another')).toEqual(FOUND);
});
