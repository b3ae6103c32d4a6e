import type { Fault } from '../fault.js';
import { slowestAnswer, timeOutsIn, unanswered } from '../measures.js';

/** At this delay each way every call is served, at 0.4 s for a round trip… */
const SERVED_MS = 200;

/** …and at this one none is, since a command has 1.5 s. */
const REFUSED_MS = 800;

/** Under a fault that does not stop everything time-outs are met within this. */
const LATE_MS = 5_000;

function slow(delayMs: number, more: Pick<Fault, 'stops'>): Fault {
  return {
    ...more,
    id: 'F13',
    variant: `${delayMs}ms`,
    title: `Redis is ${delayMs} ms away, each way`,
    promises: ['P12', 'P4'],
    lastsMs: 6_000,
    async inject({ installation: { apps } }) {
      for (const { proxy } of apps) proxy.set({ delayMs });
      return async () => {
        for (const { proxy } of apps) proxy.set('pass');
      };
    },
    expect(run) {
      const { from, until } = run.outage;
      const latest = Math.max(
        0,
        ...timeOutsIn(run)
          .filter(({ at }) => at >= from && at <= until)
          .map(({ at, due }) => at - due),
      );
      run.figures['slowest answer ms'] = slowestAnswer(run);
      run.figures['latest time-out ms'] = latest;
      const isLate = delayMs === SERVED_MS && latest > LATE_MS;
      return [
        ...unanswered(run),
        ...(isLate
          ? [
              {
                jobId: null,
                damage: 'late' as const,
                promise: 'P4' as const,
                says: `a time-out came ${latest} ms late`,
              },
            ]
          : []),
      ];
    },
  };
}

export const faults: Fault[] = [slow(SERVED_MS, { stops: ['scheduler'] }), slow(REFUSED_MS, { stops: ['redis'] })];
