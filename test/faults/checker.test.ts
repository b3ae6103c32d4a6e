import { describe, expect, it } from '@jest/globals';
import { check } from './checker.js';
import * as answers from './examples/answers.js';
import * as callbacks from './examples/callbacks.js';
import * as jobs from './examples/jobs.js';
import { completed, completing, kill, life, outage, RUNS } from './examples/lives.js';
import { createOf, recordOf, START, streamOf } from './examples/made-up.js';
import * as streams from './examples/streams.js';
import type { Stream } from './history.js';
import { RULES } from './rules/all.js';

const EXAMPLES = [jobs, callbacks, streams, answers];
const BROKEN = EXAMPLES.flatMap((some) => some.BROKEN);
const ALLOWED = EXAMPLES.flatMap((some) => some.ALLOWED);

describe('the judge of a run', () => {
  it.each(BROKEN)('finds, by the rule %s, %s', (rule, _what, says, record) => {
    const found = check(record).filter((violation) => violation.rule === rule);
    expect(found.map((violation) => violation.says)).toContainEqual(expect.stringMatching(says));
  });

  it.each(ALLOWED)('allows, by the rule %s, %s', (_rule, _what, record) => {
    expect(check(record)).toEqual([]);
  });

  it.each(RULES.map(({ name }) => name))('has an example of what breaks the rule %s, and of what does not', (name) => {
    expect(BROKEN.map(([rule]) => rule)).toContain(name);
    expect(ALLOWED.map(([rule]) => rule)).toContain(name);
  });

  it('names the promise, the job and the lines of what it finds', () => {
    expect(check(life(completed(), kill('no')))).toContainEqual({
      promise: 'P3',
      rule: 'results',
      damage: 'lost',
      jobId: 'a',
      says: 'it was killed, and is completed',
      lines: [5],
    });
  });

  it('takes what was answered in a forgotten span as unknown', () => {
    const record = { ...recordOf([], [createOf(completed())]), ...outage(['redis'], 0, 1_000) };
    expect(check({ ...record, forgotten: [{ from: START, until: START + 10 }] })).toEqual([]);
  });

  it('does not judge a stream that was closed for an end which was forgotten, and judges one that was cut off', () => {
    const job = completed([...RUNS, ['completed', 9_000, { token: 'done' }]]);
    const story = (fields: Partial<Stream>) =>
      life(job, completing({ sentAt: START + 8_999 }), streamOf(job, [1, 2], fields));
    const forgotten = [{ from: START + 400, until: START + 600 }];
    const found = (fields: Partial<Stream>) =>
      check({ ...story(fields), forgotten }).filter(({ rule }) => rule === 'closes').length;
    expect(found({ closed: 1000 })).toBe(0);
    expect(found({ closed: 1006 })).toBe(1);
  });
});
