import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { fsck } from '@yardmaster/fsck';
import type { JobWithEvents, LogEntry, SpaceStats, Status } from '@yardmaster/protocol';
import {
  ANY_SPACE,
  Authenticator,
  ackJob,
  appendLogs,
  beginCallback,
  completeJob,
  createStore,
  expireDue,
  failJob,
  getJob,
  getStats,
  heartbeatJob,
  killJob,
  PARTITION_TAGS,
  packLog,
  pollJobs,
  readLogs,
  recordCallback,
  redeliverCallback,
  redisNow,
  relayCallbacks,
  type Store,
} from '@yardmaster/store';
import { connectTo } from '../support/connect.js';
import { during } from '../support/during.js';
import { withRedis } from '../support/own-redis.js';
import { startService } from '../support/service.js';

/** What a release has left in Redis, and what it returned for it; see make.mjs. */
interface Golden {
  version: string;
  prefix: string;
  key: { id: string; text: string; spaceId: string };
  spaces: {
    spaceId: string;
    jobs: { job: JobWithEvents; logs: LogEntry[] }[];
    counts: SpaceStats['jobs'];
    names: Pick<SpaceStats['names'][number], 'name' | 'total' | 'pending'>[];
    /** Ids of its pending jobs, in the order in which they are delivered. */
    queue: string[];
  }[];
  commands: [command: string, ...words: string[]][];
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const releases = readdirSync(new URL('.', import.meta.url))
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(read(name)) as Golden);

it('the golden dumps include one of the current release', () => {
  const { version } = JSON.parse(read('../../package.json'));
  expect(releases.map((golden) => golden.version)).toContain(version);
});

const server = withRedis();
const connection = during(
  async () => ({ redis: connectTo(server.url) }),
  async ({ redis }) => redis.disconnect(),
);

/** The ways in which a job can end. */
const ENDS: readonly ((store: Store, id: string) => Promise<void>)[] = [
  (store, id) => completeJob(store, ANY_SPACE, id, { ok: true }),
  (store, id) => killJob(store, ANY_SPACE, id, null),
  (store, id) => failJob(store, ANY_SPACE, id, { error: 'broken' }),
];
const ENDED = [/completed/, /killed/, /pending|dead/];

describe.each(releases)('data of release $version', ({ prefix, key, spaces, commands }) => {
  const jobs = spaces.flatMap((space) => space.jobs);
  const idsOf = (...statuses: Status[]) => jobs.flatMap(({ job }) => (statuses.includes(job.status) ? [job.id] : []));
  let store: Store;

  beforeEach(async () => {
    await connection.redis.flushall();
    for (const [command, ...words] of commands) await connection.redis.call(command, ...words);
    store = createStore(connection.redis, { keyPrefix: prefix });
  });

  async function expectNoFaults(): Promise<void> {
    const faults: unknown[] = [];
    await fsck(store, { onFault: (fault) => faults.push(fault) });
    expect(faults).toEqual([]);
  }

  const statusOf = async (id: string) => (await getJob(store, ANY_SPACE, id)).status;
  const expectStatus = async (ids: readonly string[], status: Status) =>
    expect(await Promise.all(ids.map(statusOf))).toEqual(ids.map(() => status));

  it('golden data contains jobs in every status except scheduled', () => {
    const found = new Set(jobs.map(({ job }) => job.status));
    expect([...found].sort()).toEqual(['completed', 'dead', 'delivered', 'killed', 'pending', 'running']);
  });

  it('fsck finds no faults in golden data', expectNoFaults);

  it('golden data is read as the release that wrote it returned it', async () => {
    const query = { mode: 'latest' as const, bound: null, limit: 100, levels: null, terms: [] };
    for (const { job, logs } of jobs) {
      expect(await getJob(store, ANY_SPACE, job.id)).toMatchObject(job);
      expect((await readLogs(store, ANY_SPACE, job.id, query)).logs).toMatchObject(logs);
    }
    for (const { spaceId, counts, names } of spaces)
      expect(await getStats(store, spaceId, { limit: 100, names: [] })).toMatchObject({ jobs: counts, names });
  });

  it('a process of the current release serves golden data to the API keys in it', async () => {
    const service = await startService({ KEY_PREFIX: prefix }, { redis: server, app: 'api' });
    for (const { job } of jobs) {
      const { status, body } = await service.call('GET', `/jobs/${job.id}`, { key: key.text });
      expect(status).toBe(job.spaceId === key.spaceId ? 200 : 403);
      if (status === 200) expect(body).toMatchObject(job);
    }
    await service.stop();
  });

  it('golden data contains API keys that are still valid', async () => {
    expect(await new Authenticator(store).authenticate(key.text)).toMatchObject({
      keyId: key.id,
      spaceId: key.spaceId,
    });
  });

  it('pending jobs of golden data are delivered in order and run to their end', async () => {
    for (const { spaceId, queue } of spaces) {
      const { jobs: claimed } = await pollJobs(store, spaceId, { count: 50, names: [] });
      expect(claimed.map(({ id }) => id)).toEqual(queue);
    }
    const delivered = idsOf('pending', 'delivered');
    for (const id of delivered) await ackJob(store, ANY_SPACE, id);
    const running = [...delivered, ...idsOf('running')];
    await expectStatus(running, 'running');
    for (const id of running) {
      await heartbeatJob(store, ANY_SPACE, id, { kind: 'progress', data: { percent: 50, message: 'on' } });
      await appendLogs(store, ANY_SPACE, id, [packLog({ message: 'on' })]);
    }
    for (const [n, id] of running.entries()) await ENDS[n % ENDS.length]?.(store, id);
    for (const [n, id] of running.entries()) expect(await statusOf(id)).toMatch(ENDED[n % ENDS.length] as RegExp);
    await expectNoFaults();
  });

  it('delivered and running jobs of golden data time out', async () => {
    for (const { job } of jobs) {
      const due = ['delivered', 'running'].includes(job.status) ? 1 : '+inf';
      await connection.redis.zadd(store.keys.deadlines(job.id.slice(0, 2)), 'XX', due, job.id);
    }
    const now = await redisNow(store);
    for (const partition of PARTITION_TAGS) await expireDue(store, partition, now);
    await expectStatus(idsOf('delivered', 'running'), 'pending');
    await expectNoFaults();
  });

  /** Send every callback that is due, and return how many there were. */
  async function settle(): Promise<number> {
    const relayed = await Promise.all(PARTITION_TAGS.map((partition) => relayCallbacks(store, partition)));
    const all = relayed.flatMap(({ callbacks, overdue }) => [...callbacks, ...overdue]);
    for (const pending of all) {
      const begun = await beginCallback(store, pending);
      if (!('lease' in begun)) throw new Error(`the callback of ${pending.jobId} cannot begin`);
      const { lease, url, attempt } = begun;
      const data = { url, statusCode: 200, attempt, willRetry: false };
      await recordCallback(store, pending, { lease, type: 'callback_sent', data, retryMs: null });
    }
    return all.length;
  }

  it('pending callbacks of golden data are sent, and callbacks of its ended jobs are sent again', async () => {
    const calling = jobs.filter(({ job }) => job.callbackUrl !== null && ['completed', 'dead'].includes(job.status));
    const isSettled = ({ job }: (typeof jobs)[number]) =>
      job.events.some(({ type, data }) => type === 'callback_sent' && !(data as { willRetry: boolean }).willRetry);
    expect(await settle()).toBe(calling.filter((each) => !isSettled(each)).length);
    for (const { job } of calling) await redeliverCallback(store, ANY_SPACE, job.id);
    expect(await settle()).toBe(calling.length);
    await expectNoFaults();
  });
});
