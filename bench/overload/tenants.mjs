// One tenant sends as much as it can, over 600 connections with 200 keys, to a Redis with 3% of a core. Nearly all calls of another
// tenant must succeed at the first try.
import { setTimeout as delay } from 'node:timers/promises';
import { limitCpu } from '../../test/support/slow-process.mjs';
import { keyFor, post, withService } from './service.mjs';

const CONNECTIONS = 600;
const KEYS = 200;
const SHARE = { of: 0.03, periodMs: 100 };

/** Fraction of the quiet tenant's calls that must succeed. */
const GOODPUT = 0.9;

/** Calls of each kind by the quiet tenant, per second. */
const RATE = 5;

const create = { method: 'POST', path: '/spaces/noisy/jobs', body: '{"name":"work"}' };

/** Create running jobs in the noisy space. @returns their IDs */
async function runningJobs(access, count) {
  const jobs = Array.from({ length: count }, () => ({ name: 'work', timeoutSeconds: 3_600 }));
  await post(access, '/spaces/noisy/jobs', jobs);
  const polled = await post(access, '/spaces/noisy/jobs/poll', { count, autoAck: true });
  return polled.jobs.map(({ id }) => id);
}

/** Create jobs with a thousand different names. */
async function manyNames(access) {
  await post(
    access,
    '/spaces/noisy/jobs',
    Array.from({ length: 1_000 }, (_, n) => ({ name: `name-${n}` })),
  );
}

const absent = Array.from({ length: 100 }, (_, n) => `name=absent-${n}`).join('&');

/** Attacks of the noisy tenant by scenario: settings of the service, and a function that prepares the requests. */
const ATTACKS = {
  creates: { requests: () => [create] },
  bodies: { settings: { MAX_IN_FLIGHT: '400' }, requests: () => [{ ...create, body: null }] },
  progress: {
    async requests(access) {
      const ids = await runningJobs(access, 50);
      return ids.map((id) => ({
        method: 'POST',
        path: `/jobs/${id}/progress`,
        body: '{"percent":1,"message":"at work"}',
      }));
    },
  },
  reads: {
    async requests(access) {
      await manyNames(access);
      return ['/spaces/noisy/stats?limit=1000', `/spaces/noisy/jobs?${absent}`].map((path) => ({
        ...{ method: 'GET', path },
        body: '',
      }));
    },
  },
  waits: {
    settings: { WAITERS_PER_PROCESS: '600' },
    requests: () => [{ method: 'POST', path: '/spaces/noisy/jobs/poll', body: '{"waitSeconds":20}' }],
  },
};

/** Return the calls of the quiet tenant: a producer, a reader, and workers that wait for jobs. */
async function quietCalls(access) {
  const { id } = await post(access, '/spaces/quiet/jobs', { name: 'read' });
  return {
    create: { method: 'POST', path: '/spaces/quiet/jobs', body: '{"name":"work"}' },
    get: { method: 'GET', path: `/jobs/${id}`, body: '' },
    poll: { method: 'POST', path: '/spaces/quiet/jobs/poll', body: '{"name":"none","waitSeconds":1}' },
  };
}

export const tenants = (kind, { seconds }) => {
  const { settings, requests } = ATTACKS[kind];
  return withService(async ({ redis, access, load, others }) => {
    const keys = await Promise.all(Array.from({ length: KEYS }, () => keyFor(access, 'noisy')));
    const attack = { url: access.url, keys, requests: await requests(access), connections: CONNECTIONS };
    const quiet = { url: access.url, key: await keyFor(access, 'quiet') };
    const calls = await quietCalls(access);
    const heartbeats = { ...quiet, spaceId: 'quiet', jobs: 5, timeoutSeconds: 5, everyMs: 1_000, seconds: seconds + 5 };
    const keeping = others.call('keepAlive', heartbeats);
    await delay(1_000);
    const free = limitCpu(redis.pid, SHARE.of, SHARE.periodMs);
    try {
      const attacking = load.call('attack', { ...attack, seconds: seconds + 5 });
      await delay(4_000);
      const made = await others.call('atRate', { ...quiet, calls, rate: RATE, seconds });
      const timedOut = await keeping;
      const answered = await attacking;
      return [
        ['responses to the noisy tenant', JSON.stringify(answered), true],
        ...Object.entries(made).map(([name, { succeeded, all, p50, failures }]) => [
          `${name} of the quiet tenant: ${GOODPUT * 100}% succeed`,
          `${succeeded} of ${all}, p50 ${Math.round(p50)} ms ${JSON.stringify(failures)}`,
          succeeded >= GOODPUT * all,
        ]),
        ["the quiet tenant's jobs timed out: 0", timedOut, timedOut === 0],
      ];
    } finally {
      free();
    }
  }, settings);
};
