import { expect, it } from '@jest/globals';
import { RULES } from '../rules/all.js';
import { latenessOf } from '../rules/timeouts.js';
import { check, judge } from './checker.js';
import { call, outage, stream } from './examples/changes.js';
import { ALLOWED, BROKEN } from './examples/examples.js';
import { DONE, START, story } from './examples/story.js';
import type { Stream } from './history.js';
import './examples/callbacks.js';
import './examples/jobs.js';
import './examples/streams.js';
import './examples/time.js';
import './examples/tokens.js';

it.each(BROKEN)('reports a violation of the rule %s: %s', (rule, _what, says, record) => {
  const found = check(record).filter((violation) => violation.rule === rule);
  expect(found.map((violation) => violation.says)).toContainEqual(expect.stringMatching(says));
});

it.each(ALLOWED)('reports no violation of the rule %s: %s', (_rule, _what, record) => {
  expect(check(record)).toEqual([]);
});

it.each(RULES.map(({ name }) => name))('contains examples that break and that keep the rule %s', (name) => {
  expect(BROKEN.map(([rule]) => rule)).toContain(name);
  expect(ALLOWED.map(([rule]) => rule)).toContain(name);
});

it('reports the promise, the job and the lines of a violation', () => {
  const says = 'kill of undefined returned 2xx, but is not in the history';
  const found = { promise: 'P3', rule: 'effects', damage: 'lost', jobId: 'a', says, lines: [5] };
  expect(check(story(DONE, call('kill', 99)))).toContainEqual(found);
});

it('treats a response whose effect an outage has undone as unknown', () => {
  const record = { ...story(DONE, outage('redis', 0, 1_000)), undone: [{ from: START, until: START + 1_000 }] };
  expect(check({ ...record, dump: { ...record.dump, jobs: [] } })).toEqual([]);
  expect(check({ ...record, dump: { ...record.dump, jobs: [] }, undone: [] })).not.toEqual([]);
});

it.each<[what: string, fields: Partial<Stream>, found: number]>([
  ['ignores a stream that was closed for an undone end of its job', { closed: 1000 }, 0],
  ['reports a stream that was cut', { closed: 1006 }, 1],
])('the checker %s', (_, fields, found) => {
  const record = story('delivered 100, acked 200, completed 9000 done', stream([1, 2], fields));
  const undone = [{ from: START + 400, until: START + 600 }];
  expect(check({ ...record, undone }).filter(({ rule }) => rule === 'closes')).toHaveLength(found);
});

it('leaves a missed deadline unjudged while the machine stalls', () => {
  const late = check(story(DONE, call('keepalive', 300, { endedAt: START + 2_900 })));
  const stalls = (ms: number) => ({ between: () => ms, stop: () => undefined });
  expect(judge(late, stalls(20))).toEqual({ violations: late, notJudged: [] });
  expect(judge(late, stalls(600))).toEqual({ violations: [], notJudged: late });
});

it('leaves only violations unjudged that a stall of the machine may cause', () => {
  const mayBeStall = BROKEN.filter(([rule, , says, record]) => {
    const found = check(record).filter((one) => one.rule === rule && says.test(one.says));
    return found.every(({ during }) => during !== undefined);
  });
  expect(mayBeStall.map(([rule, what]) => `${rule}: ${what}`).sort()).toEqual([
    'callbacks: a repeat',
    'callbacks: a repeat long after its scheduler was killed',
    'callbacks: a repeat of a stopping scheduler whose receiver responds',
    'callbacks: a repeat to a receiver that hangs',
    'closes: a cut after a fault that closes streams',
    'closes: a cut while other processes lack Redis',
    'closes: a cut without a fault',
    'closes: a hidden end that never happens',
    'closes: a late cut',
    'closes: a stream that stays open',
    'lateness: a late end of a job that no worker acked',
    'lateness: a late timeout during an outage of other processes',
    'lateness: a timeout more than 5 s after an outage',
    'lateness: a timeout that is more than 2 s late',
    'lateness: a timeout that is more than 2 s late without memory',
    'responses: a 503 long after an outage',
    'responses: a 503 of an API with Redis',
    'responses: a 503 while the other API is stopped',
    'responses: a 503 without a fault',
    'responses: a slow poll that may wait',
    'responses: a slow response',
    'responses: an overload without a fault',
    'responses: no response',
    'streams: no messages',
  ]);
});

it.each([
  ['the whole delay while a gateway is unavailable', outage('gateway', 0, 9_000), 3_000],
  ['the delay after Redis is back', outage('redis', 500, 3_200), 800],
  ['the delay before and after an outage', outage('scheduler', 1_100, 3_200), 900],
  ['zero when the timeout came before the outage ended', outage('redis', 500, 9_000), 0],
])('counts as the lateness of a timeout %s', (_, unavailable, lateMs) => {
  const timeout = { jobId: 'a', event: {} as never, at: START + 4_000, due: START + 1_000 };
  expect(latenessOf(timeout, story('', unavailable).outages)).toBe(lateMs);
});
