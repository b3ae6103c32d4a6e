import { readdirSync } from 'node:fs';
import { keysOf } from '../../test/support/fsck.js';
import type { AppProcess } from '../installation/app-process.js';
import type { Installation } from '../installation/installation.js';

const BENCH = '../../bench/soak'; // It has no types.
const { growthOf } = await import(`${BENCH}/growth.mjs`);
const { liveMemoryAt } = await import(`${BENCH}/live-memory.mjs`);

/** Values of one measurement between laps. */
export type Points = { at: number; value: number }[];

const megabytes = (bytes: number) => Number((bytes / 1_048_576).toFixed(3));

/** Port of a process' inspector, which the process prints at its start. */
const portOf = (app: AppProcess) => Number(/ws:\/\/127\.0\.0\.1:(\d+)\//.exec(app.output())?.[1]);

/** Measure what must not grow: memory and files of the first process of each kind, clients and keys of Redis. */
export async function measure(installation: Installation): Promise<Record<string, number>> {
  const { apis, gateways, schedulers, connection, store } = installation;
  const all: Record<string, number> = {};
  for (const app of [apis[0], gateways[0], schedulers[0]] as AppProcess[]) {
    const { heapBytes, externalBytes, besideBytes } = await liveMemoryAt(portOf(app));
    all[`${app.name}: heap, MB`] = megabytes(heapBytes);
    all[`${app.name}: buffers, MB`] = megabytes(externalBytes);
    all[`${app.name}: beside the heap, MB`] = megabytes(besideBytes);
    all[`${app.name}: open files`] = readdirSync(`/proc/${app.pid()}/fd`).length;
  }
  all['Redis: clients'] = Number(/^connected_clients:(\d+)/m.exec(await connection.info())?.[1]);
  all['Redis: keys of BullMQ'] = (await keysOf(connection, store.keys.bull)).length;
  return all;
}

/** Read the keys and megabytes that are left in Redis once all jobs are purged. */
export async function leftIn({ connection, store }: Installation): Promise<{ keys: string[]; megabytes: number }> {
  const { meta, bull, apiKeys } = store.keys;
  const keys: string[] = [];
  for await (const batch of connection.scanStream({ count: 1_000 })) keys.push(...(batch as string[]));
  const memory = await connection.info('memory');
  return {
    keys: keys.filter((key) => key !== meta && key !== apiKeys && !key.startsWith(`${bull}:`)),
    megabytes: megabytes(Number(/^used_memory:(\d+)/m.exec(memory)?.[1])),
  };
}

const WARM_UP_LAPS = 2; // Until code is compiled, pools are full, and as many jobs are purged as created.
const LAPS_TO_JUDGE = 10; // Fewer points cannot show growth.
const LAPS_OF_A_LOW = 4; // Counts are the lowest of these laps, because a fault may just have left something open.
const NOT_JUDGED = /beside the heap/; // The allocator keeps the memory of large bodies, and frees it at any time.

/** Judge whether a measurement has grown over the laps: by its slope for memory, by its lowest values otherwise. */
export function growth(what: string, all: Points) {
  const points = all.slice(WARM_UP_LAPS);
  if (points.length < LAPS_TO_JUDGE) return { grows: false, says: 'too short a run to judge' };
  const moved = `${points[0]?.value} to ${points.at(-1)?.value}`;
  if (NOT_JUDGED.test(what)) return { grows: false, says: `${moved}, not judged` };
  if (what.endsWith('MB')) {
    const { perMinute, verdict } = growthOf(points, undefined, points);
    const grows = verdict !== 'no growth';
    return { grows, says: `${moved}, ${grows ? `by ${(60 * perMinute).toPrecision(2)} an hour` : verdict}` };
  }
  const low = (some: Points) => Math.min(...some.map(({ value }) => value));
  const [first, last] = [low(points.slice(0, LAPS_OF_A_LOW)), low(points.slice(-LAPS_OF_A_LOW))];
  return { grows: last > first, says: `${first} to ${last} between faults` };
}
