// The overload of each scenario, and its checks: rows of a text, a value, and whether the value is right.
import { setTimeout as delay } from 'node:timers/promises';
import { limitCpu } from '../../test/support/slow-process.mjs';
import { until } from '../processes.mjs';
import { checkTimes, keyFor, PROBED, peakOf, post, withService } from './service.mjs';

/** Pipeline polls over some connections, with a valid or a wrong key. */
export const pipelining = ({ connections, requests, seconds, hasKey }) =>
  withService(async ({ api, access, others, flood }) => {
    const key = hasKey ? access.key : 'none';
    const probe = (options) => others.call('probe', { ...access, paths: [PROBED, '/livez'], ...options });
    let [responses, probed] = [];
    const growth = await peakOf(api.pid, async () => {
      const probing = probe({ everyMs: 50, seconds: seconds ?? 20 });
      responses = await flood.call('pipeline', { url: access.url, key, connections, requests, seconds });
      probed = await probing;
    });
    return [
      ['responses', responses, true],
      ['memory growth ≤ 150 MB', `${Math.round(growth)} MB`, growth <= 150],
      checkTimes(probed, 'others'),
      checkTimes(await probe({ everyMs: 20, seconds: 1 }), 'afterwards'),
    ];
  });

/** Offer creates while something is slow, with a quiet tenant, and compare the responses with the stored jobs. */
async function offered({ redis, access, load, others }, { rate, slow, capacity, seconds }) {
  const spaceId = 'busy';
  const quiet = { url: access.url, key: await keyFor(access, 'quiet'), spaceId: 'quiet' };
  const busy = { url: access.url, key: await keyFor(access, spaceId), spaceId, rate, seconds };
  const heartbeats = { jobs: 10, timeoutSeconds: 5, everyMs: 1_000, seconds: seconds + 5 };
  const keeping = others.call('keepAlive', { ...quiet, ...heartbeats });
  await delay(1_000);
  const offering = load.call('offer', busy);
  await slow?.();
  const outcomes = await offering;
  const endedAt = performance.now();
  const headers = { 'x-api-key': access.key };
  await until(async () => (await fetch(`${access.url}/api/v1${PROBED}`, { headers })).status === 200);
  const backMs = performance.now() - endedAt;
  const created = await numbersOf(redis, spaceId);
  const timedOut = await keeping;
  const happened = (some) => some.filter(([n]) => created.has(n)).length;
  const overloaded = outcomes.filter(([, status, code]) => status === 503 && code === 'OVERLOADED');
  const unknown = outcomes.filter(([, status, code]) => status !== 201 && code !== 'OVERLOADED');
  const succeeded = outcomes.filter(([, status]) => status === 201);
  const perSecond = succeeded.length / seconds;
  const goodput = `${Math.round(perSecond)} of ${Math.round(capacity)}/s`;
  return [
    ['creates, and those with 201', `${outcomes.length}, ${succeeded.length}`, true],
    ['201 that did not happen: 0', succeeded.length - happened(succeeded), succeeded.length === happened(succeeded)],
    ['OVERLOADED that happened: 0', `${happened(overloaded)} of ${overloaded.length}`, happened(overloaded) === 0],
    ['other failures that happened', `${happened(unknown)} of ${unknown.length}`, true],
    ["a quiet tenant's jobs timed out: 0", timedOut, timedOut === 0],
    ['normal within 3 s', `${Math.round(backMs)} ms`, backMs <= 3_000],
    ...(capacity === undefined ? [] : [['goodput ≥ 85% of capacity', goodput, perSecond >= 0.85 * capacity]]),
  ];
}

/** Read the numbers in the payloads of a space's jobs. */
async function numbersOf({ store, redis }, spaceId) {
  const numbers = new Set();
  const ids = await redis.zrange(store.keys.jobs(spaceId), 0, -1);
  for (let i = 0; i < ids.length; i += 1_000) {
    const payloads = await Promise.all(ids.slice(i, i + 1_000).map((id) => redis.hget(store.keys.job(id), 'payload')));
    for (const payload of payloads) numbers.add(JSON.parse(payload ?? '{}').n);
  }
  return numbers;
}

/** Measure the capacity of a service with little CPU for one process, and offer three times that load. */
export const saturated = ({ limited, share, periodMs, seconds }) =>
  withService(async (service) => {
    const { access, load } = service;
    const free = limitCpu(service[limited].pid, share, periodMs);
    try {
      const spaceId = 'capacity';
      const creates = { ...access, key: await keyFor(access, spaceId), spaceId, connections: 256 };
      await load.call('capacity', { ...creates, seconds: 3 });
      const capacity = await load.call('capacity', { ...creates, seconds: 10 });
      return await offered(service, { rate: 3 * capacity, capacity, seconds });
    } finally {
      free();
    }
  });

/** Pause Redis repeatedly for this time, under normal load. */
export const pausing = ({ ms, seconds }) =>
  withService((service) =>
    offered(service, {
      rate: 200,
      seconds,
      async slow() {
        for (const end = performance.now() + (seconds - 5) * 1_000; performance.now() < end; ) {
          process.kill(service.redis.pid, 'SIGSTOP');
          await delay(ms);
          process.kill(service.redis.pid, 'SIGCONT');
          await delay(2_000);
        }
      },
    }),
  );

/** Read a page of 25 MB with forty clients of one key. */
export const longReads = () =>
  withService(async ({ access, load, others }) => {
    const large = { url: access.url, key: await keyFor(access, 'large') };
    const job = { name: 'large', payload: { text: 'x'.repeat(250_000) } };
    for (let n = 0; n < 100; n++) await post(large, '/spaces/large/jobs', job);
    const path = `/jobs/${(await post(access, '/spaces/elsewhere/jobs', { name: 'tiny' })).id}`;
    const paths = Array(40).fill('/spaces/large/jobs?limit=100');
    const readers = load.call('probe', { ...large, paths, everyMs: 0, seconds: 20 });
    const probe = { ...access, paths: [path, '/livez'], everyMs: 20, seconds: 20 };
    const { [path]: read, '/livez': live } = await others.call('probe', probe);
    await readers;
    return [
      checkTimes({ [PROBED]: read, '/livez': live }, 'GET of a tiny job'),
      ['GET of a tiny job that failed: 0', read.failures.length, read.failures.length === 0],
    ];
  });
