import { expect, it } from '@jest/globals';
import { newJobId } from '@yardmaster/store';
import { readState } from '../support/job-state.js';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { sharedService } from '../support/shared-service.js';
import { yardmasterHere } from './in-process.js';

const service = withService({}, { check: false });
const show = (id: string, args: string[] = [], env: Record<string, string> = {}) => {
  const variables = { REDIS_URL: sharedService().redisUrl, KEY_PREFIX: service.prefix, ...env };
  return yardmasterHere(['fsck', 'show', id, ...args], variables).end();
};

const payload = { text: `\u001b[31m${'x'.repeat(300)}` };
const running = async () => {
  const id = await jobIn(service, 'running', 'shown', { payload, priority: 5 });
  const key = service.store.keys.job(id);
  const { state: _, ...fields } = await service.redis.hgetall(key);
  return { id, key, state: await readState(service.redis, key), fields };
};

it('fsck show prints the parts of the state, then the other fields, and cuts long values', async () => {
  const { id, state, fields } = await running();
  expect([state.status, state.attempt, state.flags]).toEqual(['running', '1', '-p']);
  const { payload: whole = '', ...short } = fields;
  const [code, lines, err] = await show(id);
  expect([code, err]).toEqual([0, '']);
  expect(lines.slice(0, 11)).toEqual(Object.entries(state).map(([name, value]) => `${name}  ${value}`));
  const others = { ...short, payload: `${whole.slice(0, 199)}…` };
  expect(lines.slice(11)).toEqual(
    Object.entries(others)
      .map(([name, value]) => `${name}  ${value}`)
      .sort(),
  );
});

it('fsck show --json prints the record as one object, and cuts nothing', async () => {
  const { id, state, fields } = await running();
  const [code, lines, err] = await show(id, ['--json']);
  expect([code, lines.map((line) => JSON.parse(line)), err]).toEqual([0, [{ state, fields }], '']);
});

it('fsck show prints what is left of a damaged record, without escapes', async () => {
  const { id, key } = await running();
  const whole = await service.redis.hgetall(key);
  await service.redis.del(key);
  await service.redis.hset(key, { state: 'running \u001b[31m7', 'na\nme': 'a\nb' });
  expect(await show(id)).toEqual([0, ['state  running 7', 'na me  a b'], '']);
  await service.redis.hdel(key, 'state');
  expect(await show(id)).toEqual([0, ['na me  a b'], '']);
  expect((await show(id, ['--json']))[1]).toEqual(['{"state":null,"fields":{"na\\nme":"a\\nb"}}']);
  await service.redis.del(key);
  await service.redis.hset(key, whole); // A shared installation must be left without faults.
});

it('fsck show exits with 1 when the job does not exist, and never reads another key', async () => {
  const killed = await jobIn(service, 'killed', 'shown');
  for (const id of [newJobId('shown'), 'job', `${killed}:events`]) {
    expect(await show(id)).toEqual([1, [], `yardmaster: job ${id} does not exist\n`]);
  }
});

it.each([
  ['without REDIS_URL', { REDIS_URL: '' }, /REDIS_URL is not set/],
  ['with another prefix', { KEY_PREFIX: 'unused' }, /no Yardmaster data with the prefix unused: is this/],
  ['without Redis', { REDIS_URL: 'redis://127.0.0.1:1' }, /no connection to Redis: .*ECONNREFUSED/],
])('fsck show exits with 2 and the reason %s', async (_, env, reason) => {
  expect(await show(newJobId('shown'), [], env)).toEqual([2, [], expect.stringMatching(reason)]);
});

it('fsck show exits with 2 when the data has another format', async () => {
  const prefix = `${service.prefix}-other`;
  await service.redis.hset(`${prefix}:meta`, { partitions: 64, format: 99 });
  const end = await show(newJobId('shown'), ['--prefix', prefix]);
  expect(end).toEqual([2, [], expect.stringContaining('Redis contains jobs in format 99')]);
  await service.redis.del(`${prefix}:meta`);
});
