import { afterEach, expect, it } from '@jest/globals';
import { append, infos, isFollowed, logs, numbered } from '../cli/logs.js';
import { endAll } from '../cli/yardmaster.js';
import { freePort } from '../support/free-port.js';
import { jobIn, step } from '../support/jobs.js';
import { withRedis } from '../support/own-redis.js';
import { startService, type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';

const others: TestService[] = [];
const redis = withRedis();
const service = withService({}, { redis, hasDefaultTimeouts: true });
afterEach(async () => {
  endAll();
  for (const other of others.splice(0)) await other.stop();
});

it('yardmaster logs waits for a service that is down at the start or later, and reports each outage once', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startAnother = async () => {
    const env = { PORT: `${port}`, KEY_PREFIX: service.prefix };
    others.push(await startService(env, { redis, hasDefaultTimeouts: true, check: false }));
  };
  const id = await jobIn(service, 'running', 'away');
  await append(service, id, numbered(2));

  const run = logs({ url }, id, '--follow');
  await until(() => run.err() !== '');
  await startAnother();
  await run.shows('entry 2\n');
  await isFollowed(service, id);
  await append(service, id, numbered(1, 3));
  await run.shows('entry 3\n'); // By the stream, which is now open.
  await others.pop()?.stop();
  await append(service, id, numbered(2, 4));
  await startAnother();
  await run.shows('entry 5\n');
  await step(service, id, 'complete');
  expect(await run.exit()).toBe(0);

  expect(run.lines()).toEqual(infos(numbered(5)));
  expect(run.err()).toBe(
    `cannot connect to ${url} (connect ECONNREFUSED 127.0.0.1:${port}), reconnecting\n` +
      'connection lost (The server closed the stream), reconnecting\n',
  );
});

it('yardmaster logs continues after an outage of Redis', async () => {
  const id = await jobIn(service, 'running', 'storage');
  await append(service, id, numbered(2));
  const run = logs(service, id, '--follow');
  await run.shows('entry 2\n');
  await isFollowed(service, id);
  await redis.halt();
  const late = logs(service, id);
  await until(() => late.err() !== '');
  await redis.resume();
  const err = expect.stringMatching(/^cannot connect to \S+ \(Storage did not respond.*\), reconnecting\n$/);
  expect(await late.end()).toEqual([0, infos(numbered(2)), err]);
  await append(service, id, numbered(2, 3));
  await step(service, id, 'complete');
  expect(await run.end()).toEqual([0, infos(numbered(4)), expect.any(String)]);
});
