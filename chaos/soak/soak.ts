import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { keysOf } from '../../test/support/fsck.js';
import { INSPECTED } from '../../test/support/live-memory.js';
import { Random } from '../../test/support/random.js';
import { evidenceOf } from '../checker/checker.js';
import { type Installation, startInstallation } from '../installation/installation.js';
import { type Counts, countsOf, markdown, sentenceOf, sumOf } from '../runs/report.js';
import { runFaults } from '../runs/run-faults.js';
import { growth, leftIn, measure } from './growth.js';
import { mixFaults, viewFor } from './mix.js';
import { startSdkWorkers } from './sdk-workers.js';

const EVERY_MS = 20_000;
const FAULTS = 2; // Per lap.
const RETENTION_SECONDS = 120; // Longer than a lap, because each lap checks all of its jobs at its end.
const PURGED_MS = RETENTION_SECONDS * 1_000 + 60_000; // Schedulers purge jobs within this time.

const print = (text: string) => process.stdout.write(`${text}\n`);

function optionsOf(args: string[]) {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args, options: { minutes: text, seed: text, rate: text, sdk: text } });
  const { minutes = 60, rate = 12, sdk = 'TypeScript', seed = 1 + Math.floor(Math.random() * 999_999) } = values;
  return { minutes: Number(minutes), seed: Number(seed), rate: Number(rate), sdk };
}

/**
 * Apply faults to one installation for an hour, in laps. After each lap, all work is drained and checked by the rules. Memory and
 * files of the processes that no fault kills must not grow, and neither must the keys of Redis.
 *
 * @returns the exit code
 */
export async function soak(args: string[]): Promise<number> {
  const { minutes, seed, rate, sdk } = optionsOf(args);
  print(`${minutes} minutes of mixed faults, seed ${seed}, ${rate} jobs per second`);
  const draw = await mixFaults(new Random(seed));
  const installation = await startInstallation({
    gateways: 2,
    env: { RETENTION_SECONDS: String(RETENTION_SECONDS), ...INSPECTED },
    redisLines: ['lua-time-limit 200'],
  });
  const workers = startSdkWorkers(sdk, installation);
  const laps: Counts[] = [];
  const values: Record<string, number[]> = {};

  async function runLap(ofLap: number): Promise<void> {
    const faults = draw(FAULTS);
    const viewOf = (fault: (typeof faults)[number]) => viewFor(fault, installation);
    const options = { seed: ofLap, rate, everyMs: EVERY_MS, viewOf, name: `${ofLap}-soak` };
    const [{ record, violations, notJudged }, checkSdk] = await Promise.all([
      runFaults(installation, faults, options),
      workers.runLap(),
    ]);
    const ofSdk = await checkSdk();
    const found = [...violations.map(sentenceOf), ...ofSdk];
    print(`seed ${ofLap}: ${faults.map(({ name }) => name).join(' ')}: ${found.length} violations`);
    for (const sentence of found.slice(0, 10)) print(sentence);
    const own = { laps: 1, faults: FAULTS, violations: found.length, 'not judged': notJudged.length };
    laps.push({ ...own, ...countsOf(evidenceOf(record)) });
    for (const [what, value] of Object.entries(await measure(installation, workers.pid)))
      values[what] = [...(values[what] ?? []), value];
  }

  try {
    for (const end = Date.now() + minutes * 60_000; Date.now() < end; ) await runLap(seed + laps.length);
    await untilPurged(installation);
    const sum = sumOf(laps);
    const left = await leftIn(installation);
    const growths = Object.entries(values).map(([what, all]) => ({ what, ...growth(what, all) }));
    const ofEnd = { 'keys left when all jobs were purged': left.keys.length, 'MB in Redis then': left.megabytes };
    const all = [...Object.entries({ ...sum, ...ofEnd }), ...growths.map(({ what, says }) => [what, says])];
    print(`\n${markdown([['what', 'in all laps'], ...all])}\n`);
    for (const key of left.keys.slice(0, 20)) print(`left: ${key}`);
    for (const { what } of growths.filter(({ grows }) => grows)) print(`grows: ${what}`);
    const isGood = sum.violations === 0 && left.keys.length === 0 && growths.every(({ grows }) => !grows);
    return isGood ? 0 : 1;
  } finally {
    workers.stop();
    await installation.stop();
  }
}

/** Wait until no job is stored, or until the time for purging has passed. */
async function untilPurged({ connection, store }: Installation): Promise<void> {
  for (const end = Date.now() + PURGED_MS; Date.now() < end; await delay(1_000)) {
    const keys = await keysOf(connection, store.settings.keyPrefix);
    if (!keys.some((key) => key.includes(':job:'))) return;
  }
}
