import { setTimeout as delay } from 'node:timers/promises';
import { randomOf } from '../../logs/random.js';
import type { AppProcess } from '../app-process.js';
import { check, evidenceOf } from '../checker.js';
import { createClients } from '../client.js';
import { drained, keepTraces } from '../course.js';
import { type Dump, dump } from '../dump.js';
import { type Fault, type Figures, nameOf } from '../fault.js';
import { History } from '../history.js';
import type { Installation } from '../installation.js';
import { startLag } from '../lag.js';
import { startLoad } from '../load/load.js';
import type { Found, Outage, Violation } from '../rules/rule.js';
import { type LapCounts, lapCounts } from './counts.js';
import { viewOf } from './deck.js';

/** Load before the first fault. */
const BEFORE_MS = 2_000;

/** A receiver that hangs and a worker that stalls are waited for as well. */
const DRAIN_MS = 60_000;

/** For what was heard or is to be heard in answer to the last of the work. */
const QUIET_MS = 700;

export interface LapOptions {
  installation: Installation;
  /** One after the other. */
  faults: readonly Fault[];
  /** From one to the next, milliseconds. */
  everyMs: number;
  seed: number;
  /** Jobs a second. */
  rate: number;
}

export interface Lap {
  seed: number;
  faults: string[];
  counts: LapCounts;
  violations: Violation[];
}

/** Let a load meet some faults, wait until all of its work is done, and judge what came of it. */
export async function runLap({ installation, faults, everyMs, seed, rate }: LapOptions): Promise<Lap> {
  const history = new History();
  const own: Violation[] = [];
  const figures: Figures = {};
  const outages: Outage[] = [];
  const ends: (() => Promise<void>)[] = [];
  const lag = startLag();
  const random = randomOf(seed);
  const began = Date.now();
  const { call, close } = createClients(installation, history);
  let violations: Violation[] | null = null;
  let stored: Dump | null = null;
  try {
    const load = await startLoad({ installation, call, history, seed, rate });
    await delay(BEFORE_MS);
    for (const fault of faults) {
      const next = delay(everyMs);
      const found = (what: Found) => void own.push(violationOf(fault, what));
      const atEnd = (act: () => Promise<void>) => void ends.push(act);
      const hit: string[] = [];
      const hits = (...apps: AppProcess[]) => void hit.push(...apps.map(({ name }) => name));
      const from = Date.now();
      history.note(`${nameOf(fault)}: ${fault.title}`);
      const ground = { random, history, lag, load, call, hits, found, figures, atEnd };
      const heal = await fault.inject({ ...ground, installation: viewOf(fault, installation) });
      await delay(fault.lastsMs);
      await heal();
      outages.push({ from, until: Date.now(), stops: fault.stops, hit, closes: fault.closes ?? [] });
      history.note('healed');
      await next;
    }
    await load.stopCreating();
    history.note((await drained(installation, DRAIN_MS)) ? 'drained' : 'not drained in time');
    await delay(QUIET_MS);
    for (const end of ends.splice(0)) await end();
    await load.stop();
    stored = await dumpSince(began, installation);

    const record = { entries: history.entries, dump: stored, outages, settings: installation.settings };
    violations = [...check(record), ...own];
    const counts = lapCounts(evidenceOf(record), figures);
    return { seed, faults: faults.map(nameOf), counts, violations };
  } finally {
    for (const end of ends.splice(0)) await end().catch(() => undefined); // What came first is what is wrong.
    close();
    lag.stop();
    if (violations === null || violations.length > 0)
      await keepTraces({ name: `${seed}-soak`, history, installation, stored });
  }
}

const violationOf = ({ id, promises }: Fault, found: Found): Violation => ({
  promise: promises[0] as Violation['promise'],
  rule: id,
  damage: 'other',
  lines: [],
  ...found,
});

/**
 * All that is stored, of which the jobs are those of this lap. Schedulers stand still meanwhile: they purge what earlier laps
 * have left, and what is read one after the other would not agree.
 */
async function dumpSince(began: number, { store, schedulers }: Installation): Promise<Dump> {
  for (const scheduler of schedulers) scheduler.pause();
  try {
    const all = await dump(store);
    return { ...all, jobs: all.jobs.filter(({ createdAt }) => Date.parse(createdAt) >= began) };
  } finally {
    for (const scheduler of schedulers) scheduler.goOn();
  }
}
