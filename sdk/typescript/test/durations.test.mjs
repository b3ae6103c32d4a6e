import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondsOf } from '../dist/durations.js';

for (const [duration, seconds] of [
  [5, 5],
  [0, 0],
  ['250ms', 0.25],
  ['30s', 30],
  ['1.5m', 90],
  ['2h', 7_200],
  ['1d', 86_400],
])
  test(`the duration ${duration} is ${seconds} s`, () => assert.equal(secondsOf(duration, 'delay'), seconds));

for (const duration of [-1, Number.NaN, Number.POSITIVE_INFINITY, '30', '5 minutes', '', null, undefined, '-1s'])
  test(`refuses ${JSON.stringify(duration)} as a duration`, () =>
    assert.throws(() => secondsOf(duration, 'delay'), /^RangeError: delay must be a number of seconds/));
