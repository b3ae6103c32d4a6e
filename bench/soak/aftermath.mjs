// Whether what is stored is as it should be, and whether all of it goes.
import { createStore, fsck } from '@yardmaster/store';
import { until } from '../processes.mjs';

/** Check all that is stored: how many jobs were looked at, and what is wrong with them. */
export async function faultsOf({ redis }, { retentionSeconds }) {
  const faults = [];
  const store = createStore(redis, { retentionMs: retentionSeconds * 1000 });
  const { jobs } = await fsck(store, { onFault: (fault) => faults.push(fault) });
  return { jobs, faultCount: faults.length, firstFaults: faults.slice(0, 5) };
}

/** Wait until no job is kept, for as long as that may take. */
export async function untilPurged({ redis, keys }, spaces, retentionSeconds) {
  const isPurged = async () => (await redis.exists(...spaces.map((space) => keys.jobs(space)))) === 0;
  await until(isPurged, (retentionSeconds + 15) * 1000).catch(() => {}); // The keys that are left tell.
}

/** Keys that should have gone with the last job. */
export async function leftKeys({ redis, keys }) {
  const found = [];
  for await (const batch of redis.scanStream({ count: 1_000 })) found.push(...batch);
  return found.filter((key) => key !== keys.meta && key !== keys.apiKeys && !key.startsWith(`${keys.bull}:`));
}
