import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { type Manifest, readFile } from './chart.js';
import { afterAnHour, FOUND, stays } from './promtool.js';

const { triggers } = parse(readFile('helm/examples/keda.yaml')).spec;
const [depth, age]: [string, string] = triggers.map(({ metadata }: Manifest) => metadata.query);

const up = (value: number) => ({ 'yardmaster_backlog_up{namespace="yardmaster",pod="a"}': stays(value) });
const queue = Object.fromEntries(
  ['a', 'b'].flatMap((pod) => [
    [`yardmaster_queue_depth{namespace="yardmaster",pod="${pod}",space="demo"}`, stays(12)],
    [`yardmaster_queue_oldest_age_seconds{namespace="yardmaster",pod="${pod}",space="demo"}`, stays(40)],
  ]),
);

it.each([
  ['counts a job once, however many schedulers tell of it', { ...up(1), ...queue }, { '{}': 12 }, { '{}': 40 }],
  ['takes a space that is not exported for an empty one', up(1), { '{}': 0 }, { '{}': 0 }],
  ['does not take an outage of Redis for an empty queue', up(0), {}, {}],
])('%s', (_, series, waiting, oldest) => {
  const expected = [
    { query: depth, gives: waiting },
    { query: age, gives: oldest },
  ];
  expect(afterAnHour(series, expected)).toEqual(FOUND);
});

it('has KEDA keep the workers when there is no figure', () => {
  for (const { metadata } of triggers) expect(metadata.ignoreNullValues).toBe('false');
});
