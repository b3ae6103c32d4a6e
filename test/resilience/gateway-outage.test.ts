import { afterEach, expect, it } from '@jest/globals';
import { withGateway } from '../gateway/gateway.js';
import { destroySockets, expectRefusal, sendHandshake } from '../gateway/handshake.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, withRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';

const LIMITS = { STREAMS_PER_ADDRESS: '1', STREAMS_PER_SPACE: '2', STREAMS_PER_JOB: '2' };

const redis = withRedis();
const service = withService(LIMITS, { redis, hasDefaultTimeouts: true });
const gateway = withGateway(service, { ...LIMITS, REDIS_TIMEOUT_SECONDS: undefined }, redis);
afterEach(destroySockets);

const statusOf = async (url: string) => (await sendHandshake(url, new URL(url).pathname)).status;

/** How an outage of Redis begins, and how it ends. */
const OUTAGES: [what: string, begin: (redis: OwnRedis) => unknown, end: (redis: OwnRedis) => unknown][] = [
  ['down', (redis) => redis.halt(), (redis) => redis.resume()],
  ['hanging', (redis) => process.kill(redis.pid(), 'SIGSTOP'), (redis) => process.kill(redis.pid(), 'SIGCONT')],
];

it.each(OUTAGES)(
  'the gateway refuses streams with 503 and not 401 while Redis is %s, and counts none of them',
  async (...outage) => {
    const [, begin, end] = outage;
    const id = await jobIn(service, 'running', 'away');
    const { key } = await service.key(['jobs:read']);
    const paths = [`/${id}`, `/${id}?token=${key}`, `/spaces/away?token=${key}`, `/spaces/away?token=${ADMIN_KEY}`];
    const urls = [service.url, gateway.url];
    const ask = (url: string, path: string) => sendHandshake(url, `/api/v1/realtime${path}`);
    await begin(redis);
    try {
      const attempts = urls.flatMap((url) => paths.map((path) => ask(url, path)));
      for (const shaken of await Promise.all(attempts)) {
        await expectRefusal(shaken, 503, 'UNAVAILABLE');
        expect(shaken.headers['retry-after']).toMatch(/^\d+$/);
      }
      for (const url of urls) expect(await statusOf(`${url}/livez`)).toBe(200);
      for (const url of urls) await until(async () => (await statusOf(`${url}/readyz`)) === 503);
    } finally {
      await end(redis);
    }
    for (const url of urls) {
      await until(async () => (await statusOf(`${url}/readyz`)) === 200);
      for (const path of paths) await until(async () => (await ask(url, path)).status === 101);
    }
  },
);
