import { expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { append, gzipped, logsKey, written } from './entries.js';
import { readPage } from './reading.js';

const redis = withRedis();
const service = withService({}, { redis });

const MB = 1_048_576;
const usedBytes = async () => Number(/used_memory:(\d+)/.exec(await service.redis.info('memory'))?.[1]);

it('keeps the newest logs of a job within 32 MB, even if 164 MB arrive as 200 KB of gzip', async () => {
  const id = await jobIn(service, 'running', 'attack');
  const before = await usedBytes();
  let sent = 0;
  for (let n = 0; n < 32; n++) {
    const batch = gzipped(written('NDJSON', Array<string>(320).fill(`${n}`.padEnd(16_000, 'x'))));
    sent += batch.raw.length;
    expect(await append(service, id, batch)).toMatchObject({ status: 200, body: { toSeq: (n + 1) * 320 } });
  }
  expect(sent).toBeLessThan(200_000);
  expect((await usedBytes()) - before).toBeLessThan(48 * MB);
  expect(await service.redis.memory('USAGE', logsKey(service, id), 'SAMPLES', 0)).toBeLessThan(34 * MB);

  const [oldest] = (await readPage(service, id, { after: 0, limit: 1 })).logs;
  expect(oldest?.seq).toBeGreaterThan(32 * 320 - 2_100);
  expect(Number.parseInt(oldest?.message as string, 10)).toBe(Math.ceil((oldest?.seq as number) / 320) - 1);
});
