import { expect, it } from '@jest/globals';
import type { JobWithEvents } from '@yardmaster/protocol';
import { startOtherApi } from '../history/other-api.js';
import { recount, totalOf } from '../history/recount.js';
import { during } from '../support/during.js';
import { jobIn } from '../support/jobs.js';
import { Random } from '../support/random.js';
import { withFleet } from '../support/schedulers.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';

const ENV = { DELIVERY_TIMEOUT_SECONDS: '0.3' };
const fleet = withFleet({ env: ENV });

const other = during(
  () => startOtherApi(fleet, ENV),
  async ({ app, service }) => {
    await service.stop();
    expect(await app.stop()).toBe(0);
  },
);

const SPACE = 'load';
const NAMES = ['resize', 'crop', 'all "kinds"\n'];

/** Make random calls, and return the ids of all jobs. */
async function load(random: Random, calls: number): Promise<string[]> {
  const ids: string[] = [];
  const held: { id: string; deliveryToken: string }[] = [];
  const service = (): TestService => (random.chance(0.5) ? fleet.service : other.service);
  const post = async (path: string, body: unknown) => (await service().call('POST', path, { body })).body;
  const jobFields = () => ({
    name: NAMES[random.below(NAMES.length)],
    maxRetries: random.below(3),
    timeoutSeconds: random.chance(0.3) ? 0.2 : 60,
    ...(random.chance(0.2) && { delaySeconds: random.fraction() }),
    ...(random.chance(0.1) && { startWithinSeconds: 0.5 }),
    ...(random.chance(0.2) && { retry: { delaySeconds: 0.2 } }),
  });
  const take = () => held.splice(random.below(held.length), 1)[0] as (typeof held)[number];
  const anyId = () => ids[random.below(ids.length)] as string;

  const actions: [share: number, act: () => Promise<unknown>][] = [
    [4, async () => ids.push((await post(`/spaces/${SPACE}/jobs`, jobFields())).id)],
    [
      1,
      async () => {
        const created = await post(`/spaces/${SPACE}/jobs`, [jobFields(), { name: 'crop' }, jobFields()]);
        ids.push(...created.map(({ id }: { id: string }) => id));
      },
    ],
    [3, async () => held.push(...(await post(`/spaces/${SPACE}/jobs/poll`, { count: 2 })).jobs)],
    [
      2,
      async () => {
        const settle = Array.from({ length: Math.min(held.length, 8) }, take).map(({ id, deliveryToken }, i) => ({
          jobId: id,
          deliveryToken,
          ...(i % 3 === 0 ? { action: 'fail', error: 'broken' } : { action: 'complete', result: 1 }),
        }));
        held.push(...(await post(`/spaces/${SPACE}/jobs/poll`, { count: 5, autoAck: true, settle })).jobs);
      },
    ],
    [
      1,
      async () => {
        const { claimed, job } = await post(`/jobs/${anyId()}/claim`, {});
        if (claimed) held.push(job);
      },
    ],
    [4, async () => held.length > 0 && post(`/jobs/${held[random.below(held.length)]?.id}/ack`, {})],
    [2, async () => held.length > 0 && post(`/jobs/${take().id}/complete`, { result: null })],
    [1, async () => held.length > 0 && post(`/jobs/${take().id}/fail`, { error: 'no', retryable: random.chance(0.7) })],
    [1, async () => held.length > 0 && post(`/jobs/${take().id}/release`, { delaySeconds: random.below(2) })],
    [1, async () => post(`/jobs/${anyId()}/kill`, {})],
    [1, async () => post(`/jobs/${anyId()}/requeue`, {})],
    [1, async () => ids.push((await post(`/jobs/${anyId()}/copy`, {})).id)],
  ];
  const drawn = actions.flatMap(([share, act]) => Array.from({ length: share }, () => act));
  ids.push((await post(`/spaces/${SPACE}/jobs`, jobFields())).id);
  for (let n = 0; n < calls; n += 8) {
    await Promise.all(Array.from({ length: 8 }, () => drawn[random.below(drawn.length)]?.()));
  }
  // What the random calls may not have brought about, because it depends on how fast the machine is.
  const statuses = ['delivered', 'running', 'completed', 'dead', 'killed'] as const;
  for (const status of statuses) {
    const fields = { name: 'crop', timeoutSeconds: 0.2, maxRetries: status === 'dead' ? 0 : 1 };
    // On a slow machine, a deadline may come between two of its calls.
    await until(() =>
      jobIn(fleet.service, status, SPACE, fields).then(
        () => true,
        () => false,
      ),
    );
  }
  return allIds();
}

/** Return the IDs of all jobs of the space, including those created by a call that then failed. */
async function allIds(): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const path = `/spaces/${SPACE}/jobs?limit=100${cursor && `&cursor=${cursor}`}`;
    const { body, headers } = await fleet.service.call('GET', path);
    ids.push(...body.map(({ id }: { id: string }) => id));
    const next = headers['x-next-cursor'];
    if (next === undefined) return ids;
    cursor = String(next);
  }
}

it('the history of a space agrees with the histories of its jobs once several processes have flushed', async () => {
  const { service } = fleet;
  const ids = await load(new Random(24), 800);
  let jobs: JobWithEvents[] = [];
  const read = async () => {
    jobs = await Promise.all(ids.map(async (id) => (await service.call('GET', `/jobs/${id}`)).body));
  };
  // Workers are gone now, so every job that is delivered or running times out.
  const isBusy = ({ status }: JobWithEvents) => status === 'delivered' || status === 'scheduled';
  await until(async () => {
    await read();
    return !jobs.some(isBusy) && !jobs.some(({ status, timeoutSeconds }) => status === 'running' && timeoutSeconds < 1);
  });

  let shown: unknown;
  let expected = recount(jobs);
  await until(async () => {
    await read(); // A pending job may still die, because its time to start is over.
    expected = recount(jobs);
    const { body } = await service.call('GET', `/spaces/${SPACE}/stats/history?step=60`);
    shown = totalOf(body.points);
    return JSON.stringify(sums(shown)) === JSON.stringify(sums(expected));
  }, 20_000).catch(() => undefined);
  expect(shown).toEqual(expected);
  const hours = (await service.call('GET', `/spaces/${SPACE}/stats/history?step=3600`)).body;
  expect(totalOf(hours.points)).toEqual(expected);
  for (const counter of ['completed', 'retried', 'dead', 'killed', 'deliveryTimeouts', 'runTimeouts'] as const) {
    expect(Object.values(expected).reduce((sum, counts) => sum + counts[counter], 0)).toBeGreaterThan(0);
  }
});

/** Return the values of an object in the order of its fields, at any depth. */
function sums(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, inner]) => [field, sums(inner)]);
}

const crashing = withFleet({ schedulers: 0 });
const PATH = '/spaces/crash';

const shownBy = async (step: number) =>
  totalOf((await crashing.service.call('GET', `${PATH}/stats/history?step=${step}`)).body.points);
const createdBy = async (name: string) => (await shownBy(60))[name]?.created ?? 0;

/** Return how many jobs there are, by name. */
async function jobsByName(): Promise<Record<string, number>> {
  const { body } = await crashing.service.call('GET', `${PATH}/stats`);
  return Object.fromEntries(body.names.map(({ name, pending }: { name: string; pending: number }) => [name, pending]));
}

/**
 * Create jobs in another process of the API until it has added some to the history, and kill it at its work. Return how many
 * the history showed before.
 */
async function createAndKill(name: string): Promise<number> {
  const { app, service } = await startOtherApi(crashing);
  let isKilled = false;
  const create = async () => {
    while (!isKilled) await service.call('POST', `${PATH}/jobs`, { body: { name } }).catch(() => undefined);
  };
  const creating = Promise.all([create(), create(), create()]);
  await until(async () => (await createdBy(name)) > 0);
  await crashing.service.call('POST', `${PATH}/jobs`, { body: { name: 'survivor' } });
  const shown = await createdBy(name);
  await app.stop('SIGKILL');
  isKilled = true;
  await creating;
  await service.stop();
  return shown;
}

it('a killed process loses no visible count of the history, and none is added twice', async () => {
  const names = ['first', 'second', 'third'];
  const atKill = await Promise.all(names.map(createAndKill));
  await until(async () => (await createdBy('survivor')) === 3);
  const jobs = await jobsByName();
  const minutes = await shownBy(60);
  expect(await shownBy(3_600)).toEqual(minutes);
  for (const [n, name] of names.entries()) {
    expect(minutes[name]?.created).toBeGreaterThanOrEqual(atKill[n] as number);
    expect(minutes[name]?.created).toBeLessThanOrEqual(jobs[name] as number);
  }
});
