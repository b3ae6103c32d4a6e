import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { HttpClient } from '../support/http.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { readyLineIn } from '../support/standalone.js';
import { yardmasterHere } from './in-process.js';
import { endAll, yardmaster } from './yardmaster.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yardmaster-dev-'));
});
afterEach(async () => {
  endAll();
  await rm(folder, { recursive: true, force: true });
});

it('dev --ephemeral runs a service whose clock can be advanced, and leaves no files behind', async () => {
  const run = yardmaster(['dev', '--ephemeral', '--port', '0', '--clock', 'manual'], {
    TMPDIR: folder,
    ADMIN_API_KEY: ADMIN_KEY,
  });
  await run.shows('"msg":"ready"');
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^yardmaster-/)]);
  const client = new HttpClient(readyLineIn(run.out())?.url as string);
  const post = (path: string, body: object) => client.call('POST', path, { key: ADMIN_KEY, body });
  const advanced = [
    await post('/test/clock', { advanceSeconds: 0 }),
    await post('/test/clock', { advanceSeconds: 60 }),
  ];
  const [before = 0, after = 0] = advanced.map(({ body }) => Date.parse(body.now));
  expect(after - before).toBe(60_001);
  const created = await post('/api/v1/spaces/demo/jobs', { name: 'work' });
  expect(Date.parse(created.body.createdAt)).toBe(after);
  client.close();

  run.child.kill('SIGTERM');
  expect(await run.exit()).toBe(0);
  expect(await readdir(folder)).toEqual([]);
});

it('dev exits with 1 and the reason of the service when the configuration is invalid', async () => {
  const run = yardmaster(['dev', '--data-dir', join(folder, 'data')], { DELIVERY_TIMEOUT_SECONDS: 'soon' });
  const [code, , err] = await run.end();
  expect([code, err]).toEqual([1, expect.stringContaining('DELIVERY_TIMEOUT_SECONDS must be')]);
});

it.each([
  [['--ephemeral', '--data-dir', 'x'], '--ephemeral and --data-dir cannot be combined'],
  [['--port', '70000'], 'Expected a whole number from 0 to 65535'],
  [['--clock', 'fast'], 'Allowed choices are redis, manual'],
])('refuses dev %s', async (args, reason) => {
  const [code, , err] = await yardmasterHere(['dev', ...args], {}).end();
  expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
});
