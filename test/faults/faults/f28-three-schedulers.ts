import type { Fault } from '../fault.js';
import { callBack } from '../load/call-back.js';
import { sentAtOnce } from '../sent-at-once.js';
import { lateTimeOuts } from '../time-outs-met.js';

/** Attempts that are under way for as long as a receiver may take: somebody's all that time, and nobody else's. */
const UNDER_WAY = 12;

/** Under a fault that leaves somebody to meet them. */
const LATE_MS = 5_000;

export const faults: Fault[] = [
  {
    id: 'F28',
    title: 'of three schedulers one is killed and one paused',
    promises: ['P6', 'P4'],
    stops: ['scheduler'], // Not all of them: what is in the hands of one may be done again, and no time-out is late.
    lastsMs: 18_000, // Longer than the lease on a callback: another takes it, and then the first one goes on with it.
    installation: { schedulers: 3 },
    async inject(ground) {
      const { installation, random } = ground;
      await callBack(ground, UNDER_WAY, 'hangs first');
      const killed = random.of(installation.schedulers);
      const paused = random.of(installation.schedulers.filter((each) => each !== killed));
      await killed.kill();
      paused.pause();
      return async () => {
        paused.goOn();
        await killed.start();
      };
    },
    expect: (run) => [...lateTimeOuts(run, LATE_MS), ...sentAtOnce(run)],
  },
];
