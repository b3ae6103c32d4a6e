import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../logs/random.js';
import { keysOf } from '../support/fsck.js';
import type { AppProcess } from './app-process.js';
import { check } from './checker.js';
import { createClients } from './client.js';
import { type Dump, dump } from './dump.js';
import { type Fault, type Figures, type Ground, nameOf } from './fault.js';
import { History } from './history.js';
import { type Installation, startInstallation } from './installation.js';
import { startLag } from './lag.js';
import { startLoad } from './load/load.js';
import type { Found, Violation } from './rules/rule.js';
import { type Summary, summaryOf } from './summary.js';

/** Where histories of runs are kept that failed. */
const CACHE = fileURLToPath(new URL('../../.cache/faults/', import.meta.url));

/** Load before the fault, and after it. */
const BEFORE_MS = 2_000;
const AFTER_MS = 3_000;

const DRAIN_MS = 45_000;

/** For what was heard or is to be heard in answer to the last of the work: streams, callbacks that come twice. */
const QUIET_MS = 700;

export interface CourseOptions {
  seed: number;
  rate: number;
}

/** Lead an installation through a fault under load, and judge what came of it. */
export async function runFault(fault: Fault, { seed, rate }: CourseOptions): Promise<Summary> {
  const history = new History();
  const own: Found[] = [];
  const figures: Figures = {};
  const hit: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  const lag = startLag();
  const installation = await startInstallation(fault.installation);
  const { call, close } = createClients(installation, history);
  let violations: Violation[] | null = null;
  let stored: Dump | null = null;
  try {
    const load = await startLoad({ installation, call, history, seed, rate });
    const found = (what: Found) => void own.push(what);
    const atEnd = (act: () => Promise<void>) => void ends.push(act);
    const hits = (...apps: AppProcess[]) => void hit.push(...apps.map(({ name }) => name));
    const random = randomOf(seed);
    const ground: Ground = { installation, random, history, lag, load, call, hits, found, figures, atEnd };
    await delay(BEFORE_MS);

    const from = Date.now();
    history.note(`${nameOf(fault)}: ${fault.title}`);
    const heal = await fault.inject(ground);
    await delay(fault.lastsMs);
    await heal();
    const outage = { from, until: Date.now(), stops: fault.stops, hit, closes: fault.closes ?? [] };
    history.note('healed');
    await delay(AFTER_MS);

    await load.stopCreating();
    const isDrained = await drained(installation, fault.drainMs ?? DRAIN_MS);
    history.note(isDrained ? 'drained' : 'not drained in time');
    await delay(QUIET_MS);
    for (const end of ends.splice(0)) await end();
    await load.stop();
    stored = await dump(installation.store);

    const run = { installation, history, lag, dump: stored, outage, figures };
    own.push(...(fault.expect?.(run) ?? []));
    const record = {
      entries: history.entries,
      dump: stored,
      outages: [outage],
      settings: installation.settings,
      forgotten: fault.forgotten?.(run) ?? [],
    };
    violations = [
      ...check(record),
      ...own.map((what) => ({
        promise: fault.promises[0] as Violation['promise'],
        rule: fault.id,
        damage: 'other' as const,
        lines: [],
        ...what,
      })),
    ];
    return summaryOf({ fault, seed, rate, record, lag, violations, figures });
  } finally {
    for (const end of ends.splice(0)) await end().catch(() => undefined); // What came first is what is wrong.
    close();
    lag.stop();
    if (violations === null || violations.length > 0)
      await keepTraces({ name: `${seed}-${nameOf(fault)}`, history, installation, stored });
    await installation.stop();
  }
}

/** An index that is there has somebody in it. */
const WAITS = /\/status\/(pending|delivered|running)$|:callbacks$/;

/** Wait until no job has anything to wait for. What is not done by then is for the rules to tell. */
export async function drained({ store, connection }: Installation, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await delay(250)) {
    const keys = await keysOf(connection, store.settings.keyPrefix);
    if (!keys.some((key) => WAITS.test(key))) return true;
  }
  return false;
}

interface Traces {
  /** Of the files, without what tells them apart. */
  name: string;
  history: History;
  installation: Installation;
  stored: Dump | null;
}

/** Write down what happened, what is stored, and what the processes said. */
export async function keepTraces({ name, history, installation, stored }: Traces): Promise<void> {
  const file = `${CACHE}${name}`;
  await history.write(`${file}.jsonl`);
  await writeFile(`${file}.dump.json`, JSON.stringify(stored, null, 1));
  await writeFile(`${file}.log`, installation.apps.map((app) => `=== ${app.name}\n${app.output()}\n`).join(''));
}
