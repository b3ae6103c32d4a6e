import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { answer, type Behaviour, hang, raw, reset } from '../support/behaviours.js';
import { settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { movedByScheduler, scrape } from './scrape.js';

let service: TestService;
let strict: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '3600' });
  strict = await startService({ CALLBACK_RETRY_DELAYS: 'none', CALLBACK_ALLOW_PRIVATE: 'false' });
});
afterAll(async () => {
  await Promise.all([service.stop(), strict.stop()]);
  await receiver.close();
});

const ATTEMPTS = 'yardmaster_callback_attempts_total';
const outcome = (name: string) => ({ [`${ATTEMPTS}{outcome="${name}"}`]: 1 });

/** End a job with a callback to this URL, and wait for the one attempt. */
async function attempt(on: TestService, callbackUrl: string): Promise<string> {
  const id = await jobIn(on, 'completed', 'called', { callbackUrl });
  const types = async () => (await on.call('GET', `/jobs/${id}`)).body.events.map(({ type }: { type: string }) => type);
  await until(async () => (await types()).some((type: string) => type.startsWith('callback_')));
  return id;
}

it.each<[string, Behaviour]>([
  ['2xx', answer(204)],
  ['3xx', answer(302, { location: '/' })],
  ['4xx', answer(404)],
  ['5xx', answer(500)],
  ['http', raw('HTTP/1.1 999 \r\n\r\n')],
  ['http', raw('nonsense\r\n\r\n')],
  ['network', reset],
])('counts an attempt as %s', async (name, behaviour) => {
  const url = receiver.script(`/${name}`, behaviour);
  expect(await movedByScheduler(service, ATTEMPTS, () => attempt(service, url))).toEqual(outcome(name));
});

it('counts attempts that reach no receiver by why', async () => {
  const tls = receiver.script('/tls', answer(200)).replace('http:', 'https:');
  expect(await movedByScheduler(service, ATTEMPTS, () => attempt(service, tls))).toEqual(outcome('tls'));
  const nobody = 'http://no-such-name.invalid/';
  expect(await movedByScheduler(service, ATTEMPTS, () => attempt(service, nobody))).toEqual(outcome('dns'));
  const inside = receiver.script('/inside', answer(200));
  expect(await movedByScheduler(strict, ATTEMPTS, () => attempt(strict, inside))).toEqual(outcome('refused'));
});

it('shows an attempt while it is made, and counts one that took too long', async () => {
  const url = receiver.script('/hangs', hang);
  const inFlight = async () => (await scrape(strict)).get('yardmaster_callbacks_in_flight');
  const lenient = await startService({ CALLBACK_RETRY_DELAYS: 'none' });
  const inFlightThere = async () => (await scrape(lenient)).get('yardmaster_callbacks_in_flight');
  expect([await inFlight(), await inFlightThere()]).toEqual([0, 0]);
  const moved = await movedByScheduler(lenient, ATTEMPTS, async () => {
    const id = await jobIn(lenient, 'completed', 'called', { callbackUrl: url });
    await until(async () => (await inFlightThere()) === 1);
    await settled(lenient, id);
  });
  expect(moved).toEqual(outcome('timeout'));
  expect([await inFlight(), await inFlightThere()]).toEqual([0, 0]);
  await lenient.stop();
});

it('shows the callbacks owed until their outcome is final, and how late the relay is with them', async () => {
  const own = await startService({ CALLBACK_RETRY_DELAYS: '3600' });
  const value = async (name: string) => (await scrape(own)).get(`yardmaster_callbacks_${name}`);
  await attempt(own, receiver.script('/fine', answer(200)));
  await until(async () => (await value('owed')) === 0);
  const id = await attempt(own, receiver.script('/later', answer(503)));
  await until(async () => (await value('owed')) === 1);
  expect(await value('late_seconds')).toBe(0);
  await own.redis.zrem(own.store.keys.callbacks(id.slice(0, 2)), id);
  await own.redis.hset(own.store.keys.job(id), 'callbackAttempts', '1');
  await until(async () => (await value('owed')) === 0);
  await own.stop();
});
