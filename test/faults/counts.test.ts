import { describe, expect, it } from '@jest/globals';
import { type Counts, countsOf } from './counts.js';
import { completed, completing, life, notThere, outage, owing, redelivered, SENT } from './examples/lives.js';
import {
  callbackOf,
  callOf,
  createOf,
  jobOf,
  pollOf,
  recordOf,
  START,
  streamOf,
  UNKNOWN,
  withoutKey,
} from './examples/made-up.js';
import type { Call } from './history.js';
import type { Lag } from './lag.js';
import { NOBODY } from './rules/callbacks.js';

const onTime: Lag = { between: () => 0, stop: () => undefined };

const count = (record: Parameters<typeof countsOf>[0], lag = onTime): Partial<Counts> => countsOf(record, lag);

/** A call that so many milliseconds after the start is told so late that nobody knows. */
const unserved = (atMs: number, tookMs: number, fields: Partial<Call> = {}) =>
  callOf('keepalive', 'a', atMs, { ...UNKNOWN, answeredAt: START + atMs + tookMs, ...fields });

describe('the counts of a run', () => {
  it('are of all that a job goes through', () => {
    const job = owing();
    const record = life(job, callbackOf(job, 590), streamOf(job, [1, 2, 3]));
    expect(count(record)).toEqual({
      statuses: { 200: 3, 201: 1 },
      slowestMs: 3,
      slowest503Ms: 0,
      servedAgainMs: null,
      created: 1,
      createdGone: 0,
      handOuts: 1,
      traced: 1,
      tracedUnknown: 0,
      tracedUnknownDone: 0,
      timeOuts: 0,
      callbacksOwed: 1,
      callbacksHeard: 1,
      callbacksToNobody: 0,
      callbackAttempts: 1,
      streams: 1,
      streamsCut: 0,
      messages: 3,
      keylessMessages: 0,
      keylessWithheld: 0,
    });
  });

  it('tell streams that were closed before the end', () => {
    const ofCodes = [1000, 1006, 1012, null].map((closed) => streamOf(completed(), [1], { closed }));
    expect(count(life(completed(), ...ofCodes))).toMatchObject({ streams: 4, streamsCut: 2 });
  });

  it('are nothing of nothing', () => {
    expect(Object.values(count(notThere)).filter((value) => value !== 0 && value !== null)).toEqual([{}]);
  });

  it('tell jobs that are gone, whether or not they may be', () => {
    const forgotten = [{ from: START, until: START + 1_000 }];
    expect(count(recordOf([], [createOf(completed())], { forgotten }))).toMatchObject({ created: 1, createdGone: 1 });
  });

  it('tell of calls that nobody knows the outcome of, and which of them had happened', () => {
    const job = completed();
    const entries = [
      createOf(job),
      completing(UNKNOWN),
      callOf('event', 'a', 300, { ...UNKNOWN, sent: { token: 'x' } }),
    ];
    const expected = { traced: 2, tracedUnknown: 2, tracedUnknownDone: 1 };
    expect(count(recordOf([job], entries))).toMatchObject(expected);
  });

  it('tell how long callers waited, without the lateness of the test', () => {
    const entries = [unserved(0, 900), unserved(0, 1_500, { status: null, body: 'reset' })];
    expect(count(recordOf([], entries))).toMatchObject({
      statuses: { 503: 1, none: 1 },
      slowestMs: 1_500,
      slowest503Ms: 900,
    });
    expect(count(recordOf([], entries), { ...onTime, between: () => 400 })).toMatchObject({ slowest503Ms: 500 });
  });

  it('tell how long after the return of Redis a call was last not served', () => {
    const entries = [unserved(900, 10), unserved(1_300, 10), callOf('keepalive', 'a', 1_900)];
    expect(count(recordOf([], entries, outage(['redis'], 0, 1_000)))).toMatchObject({ servedAgainMs: 300 });
    expect(count(recordOf([], entries, outage(['api'], 0, 1_000)))).toMatchObject({ servedAgainMs: null });
  });

  it('tell windows that ran out, and each time that a job was handed out', () => {
    const entries = [pollOf('a', 99), pollOf('a', 2_199)];
    expect(count(recordOf([jobOf('a', redelivered)], entries))).toMatchObject({ timeOuts: 1, handOuts: 2 });
  });

  it('tell callbacks apart that nobody can hear, and those that did not come', () => {
    const toNobody = owing({ callbackUrl: `http://receiver${NOBODY}1` });
    const expected = { callbacksOwed: 1, callbacksHeard: 0, callbackAttempts: 1 };
    expect(count(recordOf([owing()], []))).toMatchObject({ ...expected, callbacksToNobody: 0 });
    expect(count(recordOf([toNobody], []))).toMatchObject({ ...expected, callbacksToNobody: 1 });
  });

  it.each([
    ['shows progress with its data', { type: 'progress', data: { percent: 1 } }, 0],
    ['shows an end without data', { type: 'completed' }, 0],
    ['shows a result', { type: 'completed', data: { token: 'done' } }, 1],
    ['shows a checkpoint', { type: 'checkpoint' }, 1],
    ['shows the status of its job', { type: 'progress', data: { percent: 1 }, status: 'running' }, 1],
    ['shows what no stream does', { type: 'callback_sent', data: SENT }, 1],
  ])('tell of a stream without a key that %s', (_, message, keylessWithheld) => {
    const stream = streamOf(completed(), [], { scope: 'progress' });
    const messages = [withoutKey('init'), { ...withoutKey('progress'), ...message }];
    expect(count(recordOf([completed()], [{ ...stream, messages }]))).toMatchObject({
      keylessMessages: 1,
      keylessWithheld,
    });
  });
});
