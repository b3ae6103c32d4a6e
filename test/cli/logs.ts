import type { Io } from '@yardmaster/cli';
import { isCluster, type RedisClient } from '@yardmaster/redis';
import { createJob, step } from '../support/jobs.js';
import type { TestService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { yardmasterHere } from './in-process.js';
import { type ProcessRun, type Run, yardmaster } from './yardmaster.js';

/** Return the variables for the URL of a service, or of a proxy in front of it, and for the admin key. */
export const asAdmin = ({ url }: { url: string }) => ({ YARDMASTER_URL: url, YARDMASTER_API_KEY: ADMIN_KEY });

/** Run `yardmaster logs` as a process, with the admin key. */
export const logs = (at: { url: string }, ...args: string[]): ProcessRun => yardmaster(['logs', ...args], asAdmin(at));

/** Run `yardmaster logs` in this process, with the admin key. */
export const logsHere = (at: { url: string }, args: string[], waitForDrain: Io['waitForDrain'] = () => null): Run =>
  yardmasterHere(['logs', ...args], asAdmin(at), { waitForDrain });

/** Run `yardmaster logs` in this process, with the admin key, to its end. */
export const readHere = (at: { url: string }, ...args: string[]) => logsHere(at, args).end();

/** Append a batch, as the job's worker does. */
export const append = (service: TestService, jobId: string, entries: unknown[]) =>
  step(service, jobId, 'logs', entries);

/** Create a pending job with these log entries. */
export async function jobWith(service: TestService, entries: unknown[]): Promise<string> {
  const { id } = await createJob(service, 'logged');
  await append(service, id, entries);
  return id;
}

/** Make `count` messages, each with its number: `entry 1`, `entry 2` and so on. */
export const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `entry ${from + i}`);

/** Return the lines of printed entries that have a message and nothing else. */
export const infos = (messages: string[]) => messages.map((message) => `info  ${message}`);

/** Parse entries that were printed with `--json`. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare whole values; a schema here would hide differences
export const entriesOf = (run: Run): any[] => run.lines().map((line) => JSON.parse(line));

/** Wait until a client follows a job. */
export async function isFollowed(service: TestService, jobId: string): Promise<void> {
  const channel = service.store.keys.jobChannel(jobId);
  await until(async () => (await subscribersOf(service.redis, channel)) > 0);
}

/** Count the subscribers of a channel. On a cluster each node counts its own, and the channels are sharded. */
async function subscribersOf(redis: RedisClient, channel: string): Promise<number> {
  const nodes = isCluster(redis) ? redis.nodes() : [redis];
  const question = isCluster(redis) ? 'SHARDNUMSUB' : 'NUMSUB';
  const counts = await Promise.all(
    nodes.map(async (node) => ((await node.call('PUBSUB', question, channel)) as [string, number])[1]),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
