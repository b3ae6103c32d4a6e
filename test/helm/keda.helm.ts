import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { type Manifest, readFile } from './chart.js';
import { AS_EXPECTED, afterAnHour, stays } from './promtool.js';

const { triggers } = parse(readFile('helm/examples/keda.yaml')).spec;
const [depth, age]: [string, string] = triggers.map(({ metadata }: Manifest) => metadata.query);

const up = (value: number) => ({ 'yardmaster_backlog_up{namespace="yardmaster",pod="a"}': stays(value) });
const queue = Object.fromEntries(
  ['a', 'b'].flatMap((pod) => [
    [`yardmaster_queue_depth{namespace="yardmaster",pod="${pod}",space="demo"}`, stays(12)],
    [`yardmaster_queue_oldest_age_seconds{namespace="yardmaster",pod="${pod}",space="demo"}`, stays(40)],
  ]),
);
const scheduled = { 'yardmaster_queue_scheduled_jobs{namespace="yardmaster",pod="a",space="demo"}': stays(500) };
const noneAreDue = { 'yardmaster_queue_depth{namespace="yardmaster",pod="a",space="demo"}': stays(0), ...scheduled };

it.each([
  ['counts a job once although several schedulers export it', { ...up(1), ...queue }, { '{}': 12 }, { '{}': 40 }],
  ['treats a space that is not exported as empty', up(1), { '{}': 0 }, { '{}': 0 }],
  ['counts pending jobs but not scheduled ones', { ...up(1), ...queue, ...scheduled }, { '{}': 12 }, { '{}': 40 }],
  ['needs no worker for scheduled jobs alone', { ...up(1), ...noneAreDue }, { '{}': 0 }, { '{}': 0 }],
  ['does not treat an outage of Redis as an empty queue', up(0), {}, {}],
])('the KEDA example %s', (_, series, waiting, oldest) => {
  const expected = [
    { query: depth, samples: waiting },
    { query: age, samples: oldest },
  ];
  expect(afterAnHour(series, expected)).toEqual(AS_EXPECTED);
});

it('the KEDA example keeps the number of workers without a metric', () => {
  for (const { metadata } of triggers) expect(metadata.ignoreNullValues).toBe('false');
});
