import { pathToFileURL } from 'node:url';
import { readSteppedClock } from '../../../test/support/stepped-clock.js';
import type { Record } from '../../checker/checker.js';
import { ROOT } from '../../installation/release.js';
import type { Fault } from '../../runs/fault.js';

const STEP_MS = 1_800_000; // Less than the retention of ended jobs.
const WINDOWS_MS = 10_000; // Time in which running jobs end, or their windows restart.

/** Where chaos/installation/stepped-clock.ts reads the step. It is not imported, because that would change this process. */
const STEP_KEY = 'stepped-clock';

const IMPORTED = ['scripts/typescript.mjs', 'chaos/installation/stepped-clock.ts'];

/** Subtract the step from all times after it. */
function unstepped<T>(value: T, after: number): T {
  if (typeof value === 'number' && value > after) return (value - STEP_MS) as T;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) && Date.parse(value) > after)
    return new Date(Date.parse(value) - STEP_MS).toISOString() as T;
  if (Array.isArray(value)) return value.map((item) => unstepped(item, after)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, unstepped(item, after)])) as T;
}

export const faults: Fault[] = [
  {
    name: 'F33',
    title: `the clock of Redis steps forward by ${STEP_MS / 60_000} min`,
    promises: ['P4', 'P2'],
    // The window of a worker without heartbeats before the step restarts, so its timeout is late by one window. A command whose
    // deadline comes from the old clock is refused as too late, until the next TIME of its connection.
    stops: ['scheduler', 'capacity', 'clock'],
    lastsMs: WINDOWS_MS,
    installation: {
      env: { NODE_OPTIONS: IMPORTED.map((file) => `--import=${pathToFileURL(ROOT + file)}`).join(' ') },
    },
    async inject({ installation: { connection } }) {
      readSteppedClock(connection, STEP_KEY); // The checks at the end use this clock.
      await connection.set(STEP_KEY, STEP_MS / 1_000);
      return undefined;
    },
    corrected: (record: Record) => {
      const after = Date.now() + STEP_MS / 2;
      return { ...record, entries: unstepped(record.entries, after), dump: unstepped(record.dump, after) };
    },
    expect({ installation, figures }) {
      const noticed = installation.schedulers.filter(({ output }) =>
        output().includes('the clock of redis has stepped'),
      );
      figures['schedulers that noticed'] = noticed.length;
      return noticed.length > 0 ? [] : [{ says: 'no scheduler has noticed the step' }];
    },
  },
];
