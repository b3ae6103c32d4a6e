import type { Fault } from '../fault.js';
import { servedAgainAfter, slowestAnswer, unanswered } from '../measures.js';

/** What Redis got before it was paused it does afterwards, when whoever asked has long been told that nobody knows. */
function paused(seconds: number): Fault {
  return {
    id: 'F10',
    variant: `${seconds}s`,
    title: `Redis is paused for ${seconds} s`,
    promises: ['P12', 'P3'],
    stops: ['redis'],
    lastsMs: seconds * 1_000,
    async inject({ installation }) {
      installation.pauseRedis();
      return async () => installation.continueRedis();
    },
    expect(run) {
      run.figures['slowest answer ms'] = slowestAnswer(run);
      run.figures['served again after ms'] = servedAgainAfter(run, run.outage.until);
      return unanswered(run);
    },
  };
}

export const faults: Fault[] = [paused(5), paused(15)];
