import { describe, expect, it } from '@jest/globals';
import { outage, redelivered } from './examples/lives.js';
import { eventsOf, START } from './examples/made-up.js';
import type { Outage } from './rules/rule.js';
import { latenessOf } from './rules/time-outs.js';

/** A time-out that was due 1 s after the start and met 4 s after it. */
const due = START + 1_000;
const timeOut = { jobId: 'a', event: eventsOf('a', redelivered)[2], at: START + 4_000, notBefore: due, due };

describe('the lateness of a time-out', () => {
  it.each<[string, Outage[], number]>([
    ['is all of it while nothing is away', [], 3_000],
    ['is all of it while only a gateway is away', outage(['gateway'], 0, 9_000).outages, 3_000],
    ['begins when Redis is back', outage(['redis'], 500, 3_200).outages, 800],
    ['is what came before the outage, and after it', outage(['scheduler'], 1_100, 3_200).outages, 900],
    ['is nothing when it was met before the outage was over', outage(['redis'], 500, 9_000).outages, 0],
    ['is all of it when the outage was over before', outage(['redis'], 0, 900).outages, 3_000],
  ])('%s', (_, outages, expected) => {
    expect(latenessOf(timeOut as Parameters<typeof latenessOf>[0], outages)).toBe(expected);
  });
});
