import { expect, it } from '@jest/globals';
import { startOtherApi } from '../history/other-api.js';
import { totalOf } from '../history/recount.js';
import { withFleet } from '../support/schedulers.js';
import { until } from '../support/until.js';

const fleet = withFleet({ schedulers: 0 });
const PATH = '/spaces/crash';

const shownBy = async (step: number) =>
  totalOf((await fleet.service.call('GET', `${PATH}/stats/history?step=${step}`)).body.points);
const createdBy = async (name: string) => (await shownBy(60))[name]?.created ?? 0;

/** Return how many jobs there are, by name. */
async function jobsByName(): Promise<Record<string, number>> {
  const { body } = await fleet.service.call('GET', `${PATH}/stats`);
  return Object.fromEntries(body.names.map(({ name, pending }: { name: string; pending: number }) => [name, pending]));
}

/**
 * Create jobs in another process of the API until it has added some to the history, and kill it at its work. Return how many
 * the history showed before.
 */
async function createAndKill(name: string): Promise<number> {
  const { app, service } = await startOtherApi(fleet);
  let isKilled = false;
  const create = async () => {
    while (!isKilled) await service.call('POST', `${PATH}/jobs`, { body: { name } }).catch(() => undefined);
  };
  const creating = Promise.all([create(), create(), create()]);
  await until(async () => (await createdBy(name)) > 0);
  await fleet.service.call('POST', `${PATH}/jobs`, { body: { name: 'survivor' } });
  const shown = await createdBy(name);
  await app.stop('SIGKILL');
  isKilled = true;
  await creating;
  await service.stop();
  return shown;
}

it('a killed process loses no count of the history that was shown, and none is added twice', async () => {
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
