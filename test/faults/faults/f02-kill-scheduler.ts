import type { AppProcess } from '../app-process.js';
import type { Fault } from '../fault.js';
import type { Ambush } from '../proxy.js';
import { runs } from '../scripts.js';
import { lateTimeOuts } from '../time-outs-met.js';
import { within } from '../within.js';

/** For the moment to come: under load each of these scripts runs many times a second. */
const MOMENT_MS = 15_000;

/** There is another: it sweeps by itself when the one that is killed had the tick. */
const LATE_MS = 5_000;

const MOMENTS: [variant: string, when: string, script: string, does: Ambush['does']][] = [
  ['before-sweep', 'in a sweep, before Redis has it', 'expire', 'lose request'],
  ['after-sweep', 'in a sweep, once Redis has done it', 'expire', 'swallow reply'],
  ['before-record', 'between a POST and its record', 'record_callback', 'lose request'],
  ['after-record', 'once the outcome of a POST is recorded, and before it knows', 'record_callback', 'swallow reply'],
];

/** Wait until one of them runs a script, let that be lost, and return which it was; null when none did. */
async function ambushed(schedulers: AppProcess[], script: string, does: Ambush['does']): Promise<AppProcess | null> {
  const laid = schedulers.map((scheduler) => {
    const ambush = scheduler.proxy.onNext(runs(script), { does, end: 'silence' } as Ambush);
    return { ambush, first: ambush.happened.then(() => scheduler) };
  });
  const met = await within(MOMENT_MS, Promise.race(laid.map(({ first }) => first)));
  for (const { ambush } of laid) ambush.disarm();
  return met;
}

export const faults: Fault[] = MOMENTS.map(([variant, when, script, does]) => ({
  id: 'F2',
  variant,
  title: `a scheduler is killed ${when}`,
  promises: ['P4', 'P6'],
  stops: ['scheduler'],
  lastsMs: 2_000,
  async inject({ installation: { schedulers }, found }) {
    const met = await ambushed(schedulers, script, does);
    if (met === null) found({ jobId: null, says: `no scheduler ran ${script} in ${MOMENT_MS} ms` });
    const killed = met ?? (schedulers[0] as AppProcess);
    await killed.kill();
    killed.proxy.cutLost();
    return () => killed.start();
  },
  expect: (run) => lateTimeOuts(run, LATE_MS),
}));
