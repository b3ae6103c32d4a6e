import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keysOf } from '../../test/support/fsck.js';
import { Random } from '../../test/support/random.js';
import { check, judge, type Record } from '../checker/checker.js';
import { type Dump, type DumpedJob, dump } from '../checker/dump.js';
import { History } from '../checker/history.js';
import { measureStalls } from '../checker/stalls.js';
import type { Installation } from '../installation/installation.js';
import { ROOT } from '../installation/release.js';
import { createClients } from '../load/client.js';
import { startLoad } from '../load/load.js';
import { SDK_SPACE } from '../load/plan.js';
import type { Finding, Outage, Violation } from '../rules/rule.js';
import type { Fault, FaultContext, Figures, Run } from './fault.js';

const BEFORE_MS = 2_000; // Time with load before the first fault and after each fault, milliseconds.
const AFTER_MS = 3_000;
const DRAIN_MS = 120_000; // How long the drain may make no progress.
const QUIET_MS = 700; // Time for the last messages of streams and for repeated callbacks.

export interface RunOptions {
  seed: number;
  rate: number; // Jobs created per second.
  everyMs?: number; // Interval between several faults, milliseconds.
  viewOf?: (fault: Fault) => Installation; // Part of the installation that a fault can use. Default all.
  name: string; // Name of the files to keep when a promise is broken.
}

/** Put load on an installation, apply faults in sequence, wait until all work is done, and check the record. */
export async function runFaults(installation: Installation, faults: readonly Fault[], options: RunOptions) {
  const { seed, rate, everyMs = 0, viewOf = () => installation, name } = options;
  const history = new History();
  const found: Violation[] = [];
  const figures: Figures = {};
  const outages: Outage[] = [];
  const ends: (() => Promise<void>)[] = [];
  const stalls = measureStalls();
  const random = new Random(seed);
  const began = Date.now();
  const clients = createClients(installation, history);
  let stored: Dump | null = null;
  let isGood = false;

  async function apply(fault: Fault, load: FaultContext['load']): Promise<void> {
    const affected: string[] = [];
    const from = Date.now();
    history.note(`${fault.name}: ${fault.title}`);
    const heal = await fault.inject({
      ...{ random, history, stalls, load, call: clients.call, figures, installation: viewOf(fault) },
      affects: (...apps) => void affected.push(...apps.map((app) => app.name)),
      found: (says, more) => void found.push(violationOf(fault, { says, ...more })),
      atEnd: (act) => void ends.push(act),
    });
    await delay(fault.lastsMs);
    await heal?.();
    const until = Date.now();
    outages.push({ from, until, stops: fault.stops, affected, closes: fault.closes ?? [] });
    history.note('healed');
    await delay(Math.max(AFTER_MS, from + everyMs - until));
  }

  async function end(): Promise<void> {
    for (const act of ends.splice(0)) await act();
  }

  try {
    const load = await startLoad({ installation, clients, history, seed, rate });
    await delay(BEFORE_MS);
    for (const fault of faults) await apply(fault, load);
    await load.stopCreating();
    const drainMs = Math.max(...faults.map((fault) => fault.drainMs ?? DRAIN_MS));
    history.note((await drained(installation, drainMs)) ? 'drained' : 'not drained in time');
    await delay(QUIET_MS);
    await end();
    await load.stop();
    stored = await dumpSince(began, installation);

    let record: Record = { entries: history.entries, dump: stored, outages, settings: installation.settings };
    if (faults.length === 1) {
      const [fault, outage] = [faults[0] as Fault, outages[0] as Outage];
      const run: Run = { installation, history, stalls, dump: stored, outage, figures };
      found.push(...(fault.expect?.(run) ?? []).map((what) => violationOf(fault, what)));
      record.undone = fault.undone?.(run) ?? [];
      record = fault.corrected?.(record) ?? record;
    }
    const judged = judge([...check(record), ...found], stalls);
    isGood = judged.violations.length === 0;
    return { record, figures, ...judged, stalled: stalls.between(began, Date.now()) / (Date.now() - began) };
  } finally {
    await end().catch(() => undefined); // Report only the first error.
    clients.close();
    stalls.stop();
    if (!isGood) await keepTraces(join(ROOT, '.cache/faults', name), history, installation, stored);
  }
}

function violationOf({ name: rule, promises }: Fault, what: Finding): Violation {
  return { promise: promises[0] as Violation['promise'], rule, damage: 'other', jobId: null, lines: [], ...what };
}

/** Indexes that have members only while a job or a callback is waiting. */
const WAITS = /\/status\/(scheduled|pending|delivered|running)$|:callbacks$/;

/**
 * Wait until no job and no callback is waiting.
 *
 * @param stalledMs give up when their number has not fallen for this time, because a busy machine is slow
 * @returns whether all work was done
 */
export async function drained({ store, connection }: Installation, stalledMs: number): Promise<boolean> {
  let fewest = Number.POSITIVE_INFINITY;
  let wasNone = false;
  for (let fellAt = Date.now(); Date.now() - fellAt < stalledMs; await delay(250)) {
    const keys = (await keysOf(connection, store.settings.keyPrefix)).filter((key) => WAITS.test(key));
    const sizes = await Promise.all(keys.map((key) => store.redis.zcard(key)));
    const waiting = sizes.reduce((sum, size) => sum + size, 0);
    // Check twice, because a job may end and its callback become due between the reads of the indexes.
    if (waiting === 0 && wasNone) return true;
    wasNone = waiting === 0;
    if (waiting < fewest) [fewest, fellAt] = [waiting, Date.now()];
  }
  return false;
}

/**
 * Read all stored data, with the jobs created since a time, except those of SDKs. Schedulers are paused in the meantime, because
 * they purge old jobs, and keys read in sequence would then disagree.
 */
async function dumpSince(began: number, { store, schedulers }: Installation): Promise<Dump> {
  for (const scheduler of schedulers) scheduler.pause();
  try {
    const all = await dump(store);
    const isJudged = ({ createdAt, spaceId }: DumpedJob) => Date.parse(createdAt) >= began && spaceId !== SDK_SPACE;
    return { ...all, jobs: all.jobs.filter(isJudged) };
  } finally {
    for (const scheduler of schedulers) scheduler.resume();
  }
}

/** Write files with the history, the stored data, and the output of the processes. */
async function keepTraces(file: string, history: History, { apps }: Installation, stored: Dump | null): Promise<void> {
  await history.write(`${file}.jsonl`);
  await writeFile(`${file}.dump.json`, JSON.stringify(stored, null, 1));
  await writeFile(`${file}.log`, apps.map((app) => `=== ${app.name}\n${app.output()}\n`).join(''));
}
