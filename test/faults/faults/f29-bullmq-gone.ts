import { setTimeout as delay } from 'node:timers/promises';
import { keysOf } from '../../support/fsck.js';
import type { Fault } from '../fault.js';
import type { Installation } from '../installation.js';
import { lateTimeOuts } from '../time-outs-met.js';

/** Between two times: also when the watchdog is just about to mend BullMQ's schedule, or has just done so. */
const PAUSES_MS = [200, 1_000, 3_000, 3_200, 5_000];

export const faults: Fault[] = [
  {
    id: 'F29',
    title: 'all keys of BullMQ are deleted, five times',
    promises: ['P4', 'P6'],
    stops: ['scheduler'], // What BullMQ does is: time-outs are a few seconds late, not more.
    lastsMs: 5_000,
    async inject({ installation }) {
      for (const pauseMs of PAUSES_MS) {
        await deleteBullKeys(installation);
        await delay(pauseMs);
      }
      return async () => undefined;
    },
    expect: (run) => lateTimeOuts(run, 5_000),
  },
];

async function deleteBullKeys({ connection, store }: Installation): Promise<void> {
  const keys = await keysOf(connection, store.keys.bull);
  if (keys.length > 0) await connection.del(keys);
}
