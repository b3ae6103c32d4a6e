import { describe, expect, it } from '@jest/globals';
import { withRun, withUnfinished } from './results.js';
import type { Violation } from './rules/rule.js';
import type { Summary } from './summary.js';

const run = (seed: number, jobs: number, says: readonly string[] = []) =>
  ({ name: 'F1', seed, jobs, violations: says.map((each) => ({ says: each }) as Violation) }) as Summary;
const unfinished = { name: 'F1', seed: 1, says: 'it hung' };

describe('the results', () => {
  it('have a run in place of one of the same fault and seed, and of one that came to no end', () => {
    const before = { runs: [run(1, 10), run(2, 10)], unfinished: [unfinished] };
    expect(withRun(before, run(1, 20))).toEqual({ seeds: [1, 2], runs: [run(2, 10), run(1, 20)], unfinished: [] });
  });

  it('keep what a run has found, whatever comes of the next', () => {
    const before = { runs: [run(1, 10, ['lost']), run(2, 10)] };
    expect(withRun(before, run(1, 20)).runs).toEqual([...before.runs, run(1, 20)]);
    expect(withUnfinished(before, unfinished)).toEqual({ runs: before.runs, unfinished: [unfinished] });
  });
});
