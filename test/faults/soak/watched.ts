import { readdirSync } from 'node:fs';
import { keysOf } from '../../support/fsck.js';
import type { AppProcess } from '../app-process.js';
import type { Installation } from '../installation.js';

/** What a process holds between two laps, once its garbage is gone, by what it is called in the table. */
export type Holding = Record<string, number>;

/** Values between laps of all that must not grow: `api-1: heap, MB`. */
export type Watched = Record<string, { at: number; value: number }[]>;

/** Look at a process through its inspector (bench/soak/live-memory.mjs). */
export type LiveMemory = (port: number) => Promise<{ heapBytes: number; externalBytes: number; besideBytes: number }>;

/** To the nearest KB: less is noise. */
const megabytes = (bytes: number) => Number((bytes / 1_048_576).toFixed(3));

/** A process that the faults leave in peace, so that what it leaks adds up. */
const survivorsOf = ({ apis, gateways, schedulers }: Installation) =>
  [apis[0], gateways[0], schedulers[0]] as AppProcess[];

/** Where Node waits for inspectors; it says so when it starts. */
const portOf = (app: AppProcess) => Number(/ws:\/\/127\.0\.0\.1:(\d+)\//.exec(app.output())?.[1]);

/** What each of those that live through it all holds, and Redis. */
export async function holdings(installation: Installation, liveMemory: LiveMemory): Promise<Holding> {
  const all: Holding = {};
  for (const app of survivorsOf(installation)) {
    const { heapBytes, externalBytes, besideBytes } = await liveMemory(portOf(app));
    all[`${app.name}: heap, MB`] = megabytes(heapBytes);
    all[`${app.name}: buffers, MB`] = megabytes(externalBytes);
    all[`${app.name}: beside the heap, MB`] = megabytes(besideBytes);
    all[`${app.name}: open files`] = readdirSync(`/proc/${app.pid}/fd`).length;
  }
  const info = await installation.connection.info();
  all['Redis: clients'] = Number(/^connected_clients:(\d+)/m.exec(info)?.[1]);
  all['Redis: keys of BullMQ'] = (await keysOf(installation.connection, installation.store.keys.bull)).length;
  return all;
}

/** What is left in Redis once all jobs are purged. */
export async function leftIn({ connection, store }: Installation): Promise<{ keys: string[]; megabytes: number }> {
  const { keyPrefix } = store.settings;
  const { meta, bull, apiKeys } = store.keys;
  const keys: string[] = [];
  for await (const batch of connection.scanStream({ count: 1_000 })) keys.push(...(batch as string[]));
  const left = keys.filter((key) => key !== meta && key !== apiKeys && !key.startsWith(`${bull}:`));
  const megabytesLeft = megabytes(Number(/^used_memory:(\d+)/m.exec(await connection.info('memory'))?.[1]));
  return { keys: left.map((key) => key.slice(keyPrefix.length + 1)), megabytes: megabytesLeft };
}
