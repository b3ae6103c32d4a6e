import { type LogsRequest, plainLine, type ShowLogsOptions, showLogs } from '@yardmaster/cli';
import { isCluster, type RedisClient } from '@yardmaster/runtime';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { work } from './worker.js';
import { type Run, yardmaster } from './yardmaster.js';

/** Run `yardmaster logs` as admin, against a service or what stands before it. */
export function logs(at: { url: string }, args: string[], env: Record<string, string> = {}): Run {
  return yardmaster(['logs', ...args], { YARDMASTER_URL: at.url, YARDMASTER_API_KEY: ADMIN_KEY, ...env });
}

/** What `logsHere` does; all that is left out is as the command has it by default. */
type Here = Partial<LogsRequest> & Partial<Pick<ShowLogsOptions, 'drained'>>;

/** Do what the command does without a process for it, which is quick enough for a table of cases. */
export async function logsHere(at: { url: string }, jobId: string, { drained = () => null, ...fields }: Here = {}) {
  let out = '';
  let err = '';
  const { code, sentence } = await showLogs({
    request: {
      jobId,
      follow: false,
      levels: [],
      grep: null,
      tail: null,
      service: { url: new URL(at.url), token: ADMIN_KEY },
      timeoutSeconds: null,
      ...fields,
    },
    lineOf: plainLine,
    out: (text) => (out += text),
    drained,
    notice: (text) => (err += `${text}\n`),
  });
  return { code, sentence, err, messages: messagesIn(out) };
}

/** Append a batch, as the job's worker does. */
export const append = (service: TestService, jobId: string, entries: unknown[]) =>
  work(service, jobId, 'logs', entries);

/** So many messages, each with its number: `entry 1`, `entry 2` and so on. */
export const numbered = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `entry ${from + i}`);

/** Wait until somebody follows a job. */
export async function isFollowed(service: TestService, jobId: string): Promise<void> {
  const channel = service.store.keys.jobChannel(jobId);
  await until(async () => (await subscribersOf(service.redis, channel)) > 0);
}

/** On a cluster each node knows of its own, and the channels are sharded. */
async function subscribersOf(redis: RedisClient, channel: string): Promise<number> {
  const nodes = isCluster(redis) ? redis.nodes() : [redis];
  const question = isCluster(redis) ? 'SHARDNUMSUB' : 'NUMSUB';
  const counts = await Promise.all(
    nodes.map(async (node) => ((await node.call('PUBSUB', question, channel)) as [string, number])[1]),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Plain lines without their timestamps. */
const messagesIn = (out: string) =>
  out
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace(/^\S+Z /, ''));

/** What was printed plainly, but for the timestamps: `info  entry 1`. */
export const printed = (run: Run) => messagesIn(run.out());

/** How entries that say just a message are printed. */
export const infos = (messages: string[]) => messages.map((message) => `info  ${message}`);

/** Entries that were printed with `--json`. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare whole values; a schema here would hide differences
export const entriesOf = (run: Run): any[] =>
  run
    .out()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
