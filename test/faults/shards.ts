import { partitionOf } from '@yardmaster/store';
import type { Cluster } from 'ioredis';
import type { RedisCluster } from '../support/redis/cluster.js';
import { slotOf } from '../support/redis/slots.js';
import type { Run } from './fault.js';
import type { Call } from './history.js';
import type { Installation } from './installation.js';
import { SPACES } from './load/plan.js';
import { timeOutsIn } from './measures.js';
import type { TimeOut } from './rules/time-outs.js';

// What is a cluster's: a fault that meets some partitions is no excuse for the others.

/** The partitions that jobs of the load are in. */
export const LOADED: readonly string[] = SPACES.map(partitionOf);

/** @throws Error for a fault that forgot to ask for one */
export function clusterOf({ cluster }: Installation): RedisCluster {
  if (cluster === null) throw new Error('Redis is no cluster');
  return cluster;
}

/** The slot of a partition, or of another hash tag of ours. */
export const slotOfTag = (cluster: RedisCluster, tag: string) => slotOf(cluster, `{${tag}}`);

/** The partition that a call is about. */
export const partitionOfCall = ({ jobId, spaceId }: Call): string =>
  jobId === null ? partitionOf(spaceId as string) : partitionOfJob(jobId);

export const partitionOfJob = (jobId: string) => jobId.slice(0, 2);

/** Time-outs of the jobs of some partitions, and by how many milliseconds each was late. */
export function latenessIn(run: Run, partitions: readonly string[]): (TimeOut & { lateMs: number })[] {
  return timeOutsIn(run)
    .filter(({ jobId }) => partitions.includes(partitionOfJob(jobId)))
    .map((timeOut) => ({ ...timeOut, lateMs: timeOut.at - timeOut.due }));
}

/** Have the test's own connection ask who has which slot, so that it reads everything in the end. */
export async function learnSlots({ connection }: Installation): Promise<void> {
  const cluster = connection as unknown as Cluster;
  await new Promise<void>((resolve, reject) =>
    cluster.refreshSlotsCache((error) => (error ? reject(error) : resolve())),
  );
}
