import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from '../installation/release.js';
import type { Fault } from '../runs/fault.js';

/** Debian's package libfaketime: a library that gives a program another time. */
const LIBRARIES = ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`);
const STEP_MS = 1_800_000; // Less than the retention of ended jobs.
const WINDOWS_MS = 10_000; // In which the jobs that were at work end, or have another window.

/** Where the library reads it. */
const file = join(ROOT, '.cache', 'faults', `clock-${process.pid}`);

async function set(stepMs: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `+${stepMs / 1_000}`);
}

/** Times of Redis' clock are those of ours, but for the step. */
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
    title: `the clock of Redis' host steps forward by ${STEP_MS / 60_000} min`,
    promises: ['P4', 'P2'],
    stops: ['scheduler'], // Whoever was silent before the step has another window, and is timed out late by as much.
    lastsMs: WINDOWS_MS,
    installation: {
      redisEnv: {
        LD_PRELOAD: LIBRARIES.find((library) => existsSync(library)) ?? '',
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    },
    async inject({ installation: { connection }, found }) {
      await set(STEP_MS);
      const [seconds] = await connection.time();
      if (Number(seconds) * 1_000 < Date.now() + STEP_MS / 2)
        found('the clock has not stepped: is the package libfaketime installed?');
      return undefined;
    },
    corrected: (record) => {
      const after = Date.now() + STEP_MS / 2;
      return { ...record, entries: unstepped(record.entries, after), dump: unstepped(record.dump, after) };
    },
    expect({ installation, figures }) {
      const told = installation.schedulers.filter(({ output }) => output().includes('the clock of redis has stepped'));
      figures['schedulers that noticed'] = told.length;
      return told.length > 0 ? [] : [{ says: 'no scheduler has noticed the step' }];
    },
  },
];
