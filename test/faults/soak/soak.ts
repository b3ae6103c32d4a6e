import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Redis } from 'ioredis';
import { randomOf } from '../../logs/random.js';
import { keysOf } from '../../support/fsck.js';
import { type Installation, startInstallation } from '../installation.js';
import { sumOf } from './counts.js';
import { createDeck } from './deck.js';
import { type GrowthTools, movedOf } from './growth.js';
import { type Lap, runLap } from './lap.js';
import { holdings, type LiveMemory, leftIn, type Watched } from './watched.js';

const RESULTS = fileURLToPath(new URL('../../../.cache/faults/soak.json', import.meta.url));

const EVERY_MS = 20_000;

/** In each lap. */
const FAULTS = 8;

/** Longer than a lap, which looks at all of its jobs in its end. */
const RETENTION_SECONDS = 300;

/** Schedulers purge what is due within this. */
const PURGED_MS = RETENTION_SECONDS * 1_000 + 30_000;

/** What the soak takes from the benches. */
export interface Tools extends GrowthTools {
  liveMemory: LiveMemory;
  machineOf(redis: Redis): Promise<unknown>;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

function optionsOf(args: string[]) {
  const { values } = parseArgs({
    args,
    options: { minutes: { type: 'string' }, seed: { type: 'string' }, rate: { type: 'string' } },
  });
  return {
    minutes: Number(values.minutes ?? 60),
    seed: Number(values.seed ?? 1 + Math.floor(Math.random() * 999_999)),
    rate: Number(values.rate ?? 12),
  };
}

/**
 * Mixed faults for an hour: laps of some faults each, one every twenty seconds, whose outcome is judged by the same rules as
 * that of a single one; between laps, what the processes hold that lived through all of it.
 *
 * @returns the exit code
 */
export async function soak(args: string[], tools: Tools): Promise<number> {
  const { minutes, seed, rate } = optionsOf(args);
  print(`${minutes} minutes of mixed faults, seed ${seed}, ${rate} jobs a second`);
  const random = randomOf(seed);
  const deck = await createDeck(random);
  const installation = await startInstallation({
    gateways: 2,
    env: { RETENTION_SECONDS: String(RETENTION_SECONDS), NODE_OPTIONS: '--inspect=127.0.0.1:0' },
    redisLines: ['lua-time-limit 200'],
  });
  try {
    const machine = await tools.machineOf(installation.connection);
    const began = Date.now();
    const laps: Lap[] = [];
    const watched: Watched = {};
    while (Date.now() - began < minutes * 60_000) {
      const faults = deck.draw(FAULTS);
      const lap = await runLap({ installation, faults, everyMs: EVERY_MS, seed: seed + laps.length, rate });
      laps.push(lap);
      tell(lap, laps.length, Date.now() - began);
      for (const [what, value] of Object.entries(await holdings(installation, tools.liveMemory))) {
        watched[what] ??= [];
        watched[what].push({ at: Date.now(), value });
      }
    }
    const tookMinutes = Math.round((Date.now() - began) / 60_000);
    await untilPurged(installation);
    const left = await leftIn(installation);
    const growth = Object.entries(watched).map(([what, points]) => movedOf(what, points, tools));
    const rows = [
      ...Object.entries(sumOf(laps.map(({ counts }) => counts))),
      ['violations of any promise', laps.reduce((all, { violations }) => all + violations.length, 0)],
      ['laps, each with fsck in its end', laps.length],
      ['keys left when all jobs were purged', left.keys.length],
      ['MB in Redis then', left.megabytes],
      ...growth.map(({ what, says }) => [what, says]),
    ];
    await writeResults({
      machine,
      minutes: tookMinutes,
      seed,
      jobsPerSecond: rate,
      faults: timesOf(laps),
      rows,
      watched,
    });
    for (const row of rows) print(row.join(': '));
    for (const key of left.keys.slice(0, 20)) print(`left: ${key}`);
    const isGood =
      laps.every(({ violations }) => violations.length === 0) &&
      left.keys.length === 0 &&
      growth.every(({ isGrowing }) => !isGrowing);
    return isGood ? 0 : 1;
  } finally {
    await installation.stop();
  }
}

function tell({ seed, faults, counts, violations }: Lap, nth: number, ms: number): void {
  print(
    `lap ${nth}, ${Math.round(ms / 60_000)} min, seed ${seed}: ${faults.join(' ')}: ${violations.length} violations`,
  );
  print(
    `  ${Object.entries(counts)
      .map((each) => each.join(' '))
      .join(', ')}`,
  );
  for (const { promise, rule, jobId, says, lines } of violations.slice(0, 10))
    print(`  ${promise} ${rule}: ${jobId ?? ''} ${says} (lines ${lines})`);
}

function timesOf(laps: readonly Lap[]): Record<string, number> {
  const times: Record<string, number> = {};
  for (const fault of laps.flatMap(({ faults }) => faults).sort()) times[fault] = (times[fault] ?? 0) + 1;
  return times;
}

/** Wait until no job is kept, for as long as that may take; what is left then is told. */
async function untilPurged({ connection, store }: Installation): Promise<void> {
  for (const end = Date.now() + PURGED_MS; Date.now() < end; await delay(1_000)) {
    const keys = await keysOf(connection, store.settings.keyPrefix);
    if (!keys.some((key) => key.includes(':job:'))) return;
  }
}

async function writeResults(results: unknown): Promise<void> {
  await mkdir(new URL('.', `file://${RESULTS}`), { recursive: true });
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
}
