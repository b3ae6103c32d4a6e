import { readdirSync } from 'node:fs';
import { AUDIT_STREAMS } from '@yardmaster/store';
import { keysOf } from '../../test/support/fsck.js';
import { liveMemoryOf } from '../../test/support/live-memory.js';
import type { AppProcess } from '../installation/app-process.js';
import type { Installation } from '../installation/installation.js';
import { residentMb } from '../runs/measures.js';

const megabytes = (bytes: number) => Number((bytes / 1_048_576).toFixed(3));

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

/**
 * Measure what must not grow: memory and files of the first process of each kind and of a worker, and clients and keys of Redis.
 *
 * @param workerPid process of the worker
 */
export async function measure(installation: Installation, workerPid: number): Promise<Record<string, number>> {
  const { apis, gateways, schedulers, apps, connection, store } = installation;
  for (const { proxy } of apps) proxy.resetLost(); // Redis does not notice lost connections.
  const all: Record<string, number> = {};
  for (const app of [apis[0], gateways[0], schedulers[0]] as AppProcess[]) {
    const { heapBytes, externalBytes, besideBytes } = await liveMemoryOf(app.output());
    all[`${app.name}: heap, MB`] = megabytes(heapBytes);
    all[`${app.name}: buffers, MB`] = megabytes(externalBytes);
    all[`${app.name}: outside the heap, MB`] = megabytes(besideBytes);
    all[`${app.name}: open files`] = filesOf(app.pid());
  }
  all['SDK: resident, MB'] = residentMb(workerPid);
  all['SDK: open files'] = filesOf(workerPid);
  all['Redis: clients'] = Number(/^connected_clients:(\d+)/m.exec(await connection.info())?.[1]);
  all['Redis: keys of BullMQ'] = (await keysOf(connection, store.keys.bull)).length;
  return all;
}

/** Read the megabytes left in Redis once all jobs are purged, and the keys that will never expire. */
export async function leftIn({ connection, store }: Installation): Promise<{ keys: string[]; megabytes: number }> {
  const { meta, bull, apiKeys, apiKeyIndex, keyUses, audit } = store.keys;
  const kept = [`${bull}:`, ...AUDIT_STREAMS.map(audit)];
  const stays = (key: string) =>
    [meta, apiKeys, apiKeyIndex, keyUses].includes(key) || kept.some((start) => key.startsWith(start));
  const keys: string[] = [];
  for await (const batch of connection.scanStream({ count: 1_000 }))
    for (const key of batch as string[]) if (!stays(key) && (await connection.ttl(key)) === -1) keys.push(key);
  const memory = await connection.info('memory');
  return { keys, megabytes: megabytes(Number(/^used_memory:(\d+)/m.exec(memory)?.[1])) };
}

const LAPS_TO_JUDGE = 6; // Fewer values cannot show growth.

const FEW = 3; // Files, clients or keys: BullMQ has two more keys while a tick is processed.

/** Return the tolerated growth, as a fraction of the value. */
function toleratedOf(what: string): number {
  if (what.endsWith('outside the heap, MB')) return 0.5; // The allocator keeps memory of large bodies for a while.
  if (what.endsWith('resident, MB')) return 0.2; // It contains garbage.
  return what.endsWith('MB') ? 0.03 : 0.1; // Code is compiled later in a short run, and pools of sockets vary.
}

/**
 * Judge whether a measurement has grown over the laps: compare the lowest value of the last third with that of the second. The
 * lowest counts, because a fault may just have left something open. In the first third, code is compiled and pools fill.
 */
export function growth(what: string, values: readonly number[]) {
  if (values.length < LAPS_TO_JUDGE) return { grows: false, says: 'too short a run to judge' };
  const third = Math.floor(values.length / 3);
  const [before, after] = [Math.min(...values.slice(third, -third)), Math.min(...values.slice(-third))];
  const least = what.endsWith('MB') ? 0 : FEW;
  return { grows: after - before > Math.max(before * toleratedOf(what), least), says: `${before} to ${after}` };
}
