import { afterEach, describe, expect, it } from '@jest/globals';
import { withApiProcess } from '../logs/api-process.js';
import { append, appendOk, entriesOf, gzipped, logsKey, written } from '../logs/entries.js';
import { range, readLogs, seqsOf } from '../logs/reading.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const redis = withRedis();
const service = withService({ LOGS_PER_JOB: '1010' }, { redis, hasDefaultTimeouts: true });

const LARGE = gzipped(written('NDJSON', entriesOf(1_000)));
/** Seconds in Retry-After with a 503; random, so that callers do not all retry at once. */
const RETRY_AFTER = expect.stringMatching(/^[1-5]$/);
const FULL = {
  status: 503,
  headers: { 'retry-after': RETRY_AFTER },
  body: { error: 'Storage is full; nothing was stored', code: 'STORAGE_FULL' },
};

describe('appending logs while Redis has no memory left', () => {
  const fill = () => service.redis.config('SET', 'maxmemory', '1mb');
  const empty = () => service.redis.config('SET', 'maxmemory', '0');
  afterEach(empty);

  it('refuses to append logs when Redis is out of memory, drops no stored logs, and lets the job complete', async () => {
    const [id, other] = [await jobIn(service, 'running', 'full'), await jobIn(service, 'running', 'full')];
    expect((await append(service, id, LARGE)).status).toBe(200);
    await appendOk(service, id, range(1, 10).map(String), 1_001);
    const kept = await readLogs(service, id);
    const record = await service.redis.hgetall(service.store.keys.job(id));
    await fill();

    for (const batch of [{ body: ['a'] }, LARGE])
      for (const job of [id, other]) expect(await append(service, job, batch)).toMatchObject(FULL);
    expect(await readLogs(service, id)).toEqual(kept);
    expect(await service.redis.hgetall(service.store.keys.job(id))).toEqual(record);
    expect(await service.redis.exists(logsKey(service, other))).toBe(0);
    expect(await service.call('POST', `/jobs/${id}/complete`, { body: { result: 1 } })).toMatchObject({ status: 200 });

    await empty();
    await appendOk(service, id, ['after'], 1_011);
    expect(seqsOf(await readLogs(service, id))).toEqual(range(2, 1_011));
    await appendOk(service, other, ['first']);
  });
});

describe('appending logs while Redis hangs', () => {
  const api = withApiProcess(service, redis);
  /** 5 MB each, some kilobytes on the wire. */
  const messages = range(1, 1_000).map((n) => `${n} `.padEnd(5_200, 'x'));
  const largest = gzipped(written('NDJSON', messages));
  const BATCHES = 200;
  /** A few batches may wait for Redis; all of them together have a gigabyte. */
  const MAY_GROW_BY_MB = 600;

  it('refuses to append logs while Redis hangs, instead of keeping 200 batches in memory', async () => {
    const { id } = await createJob(service, 'pile');
    for (let n = 0; n < 3; n++) expect((await api.append(id, largest)).status).toBe(200);
    const before = api.peakMegabytes();
    process.kill(redis.pid(), 'SIGSTOP');
    try {
      const responses = await Promise.all(Array.from({ length: BATCHES }, () => api.append(id, largest)));
      const refusals = responses.map(({ status, headers, body }) => [status, body.code, headers['retry-after']]);
      // The outcome of the few that were sent to Redis is unknown; the others waited too long to be sent.
      const code = expect.stringMatching(/^(UNAVAILABLE|OVERLOADED)$/);
      expect(refusals).toEqual(Array(BATCHES).fill([503, code, RETRY_AFTER]));
      expect(api.peakMegabytes() - before).toBeLessThan(MAY_GROW_BY_MB);
    } finally {
      process.kill(redis.pid(), 'SIGCONT');
    }
    // Redis may first execute the commands in its sockets, which store complete batches.
    // A later read may be refused again, while the process catches up.
    let newest = await api.read(`/jobs/${id}/logs?limit=1`);
    await until(async () => {
      newest = await api.read(`/jobs/${id}/logs?limit=1`);
      return newest.status === 200;
    }, 60_000);
    expect(newest.body.logs).toMatchObject([{ message: messages.at(-1) }]);
    await until(async () => (await api.append(id, { body: ['served'] })).status === 200, 60_000);
  });
});
