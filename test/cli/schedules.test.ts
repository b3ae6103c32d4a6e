import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { read } from './worker.js';

const service = withService();
afterEach(stopServing);

/** Run a subcommand of `schedules` in this process, in a space and with the admin key. */
const here = (spaceId: string, ...args: string[]) =>
  yardmasterHere(['schedules', ...args], { ...asAdmin(service), YARDMASTER_SPACE: spaceId }).end();

const scheduleOf = async (spaceId: string, id: string) =>
  (await service.call('GET', `/spaces/${spaceId}/schedules/${id}`)).body;

it('schedules put creates a schedule with all of its options, and prints its next time', async () => {
  const [code, lines, err] = await here(
    'put',
    ...['put', 'nightly', 'report', '{"kind":"daily"}', '--cron', '0 3 * * *', '--timezone', 'Europe/Berlin'],
    ...['--overlap', 'replace', '--missed', 'skip', '--missed-within', '2d', '--spread', '5m', '--owner', 'billing'],
    ...[
      '--starts-at',
      '2096-01-01T00:00:00Z',
      '--ends-at',
      '2097-01-01T00:00:00Z',
      '--tag',
      'eu',
      '--max-retries',
      '5',
    ],
  );
  expect([code, lines, err]).toEqual([0, ['saved nightly, next at T'], '']);
  const { createdAt, upcoming, ...schedule } = await scheduleOf('put', 'nightly');
  expect(schedule).toEqual({
    id: 'nightly',
    spaceId: 'put',
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    job: { name: 'report', payload: { kind: 'daily' }, tags: ['eu'], maxRetries: 5 },
    overlap: 'replace',
    missed: 'skip',
    missedWithinSeconds: 172_800,
    spreadSeconds: 300,
    startsAt: '2096-01-01T00:00:00.000Z',
    endsAt: '2097-01-01T00:00:00.000Z',
    paused: false,
    owner: 'billing',
    ...{ nextAt: '2096-01-01T02:00:00.000Z', lastAt: null, lastJobId: null, fired: 0, skipped: 0, lastSkipped: null },
  });
});

it('schedules put shows that a schedule is paused, or that no time is left', async () => {
  const poll = ['put', 'poll', 'poll', '--every', '10m'];
  await here('put-none', ...poll);
  await here('put-none', 'pause', 'poll');
  expect(await here('put-none', ...poll)).toEqual([0, ['saved poll, paused'], '']);
  const old = ['put', 'old', 'poll', '--every', '10m', '--ends-at', '2020-01-01T00:00:00Z'];
  expect(await here('put-none', ...old)).toEqual([0, ['saved old, no time is left'], '']);
});

it('schedules list shows when each schedule runs', async () => {
  await here('list', 'put', 'nightly', 'report', '--cron', '0 3 * * *', '--timezone', 'Europe/Berlin');
  await here('list', 'put', 'poll', 'poll', '--every', '10m');
  await here('list', 'pause', 'poll');
  const [code, [titles = '', ...lines], err] = await here('list', 'list');
  expect([code, titles.split(/ +/), err]).toEqual([0, ['ID', 'WHEN', 'NEXT', 'LAST', 'FIRED', 'SKIPPED'], '']);
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    ['nightly', '0 3 * * * Europe/Berlin', 'T', '-', '0', '0'],
    ['poll', 'every 600s', 'paused', '-', '0', '0'],
  ]);
  const [, json] = await here('list', 'list', '--json');
  expect(json.map((line) => JSON.parse(line).id)).toEqual(['nightly', 'poll']);
});

it('schedules list reads every page', async () => {
  const schedules = Array.from({ length: 105 }, (_, i) => ({ id: `s${i}`, everySeconds: 600, job: { name: 'poll' } }));
  await service.call('PUT', '/spaces/pages/schedules', { body: { owner: 'me', schedules } });
  const [, lines] = await here('pages', 'list', '--json');
  expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(105);
});

it('schedules get shows the fields of a schedule and its next times', async () => {
  await here('get', 'put', 'yearly', 'report', '--cron', '@yearly');
  const [code, lines, err] = await here('get', 'get', 'yearly');
  expect([code, err]).toEqual([0, '']);
  expect(lines).toEqual([
    'id                   yearly',
    'spaceId              get',
    'cron                 @yearly',
    'timezone             UTC',
    'job                  {"name":"report"}',
    'overlap              skip',
    'missed               once',
    'missedWithinSeconds  86400',
    'spreadSeconds        0',
    'paused               false',
    'nextAt               T',
    'fired                0',
    'skipped              0',
    'createdAt            T',
    'upcoming             ["T","T","T","T","T"]',
  ]);
  const [, [json = '']] = await here('get', 'get', 'yearly', '--json');
  expect(JSON.parse(json)).toMatchObject({ id: 'yearly', lastJobId: null });
});

it('schedules run prints the ID of the job, and exits with 1 while the last job has not ended', async () => {
  await here('run', 'put', 'nightly', 'report', '{"kind":"daily"}', '--cron', '@daily');
  const [code, [first = '']] = await here('run', 'run', 'nightly');
  expect([code, await read(service, first)]).toMatchObject([0, { scheduleId: 'nightly', payload: { kind: 'daily' } }]);
  expect((await yardmasterHere(['get', first], asAdmin(service)).end())[1]).toContain('schedule       nightly');
  const refused = 'yardmaster: The last job of this schedule has not ended\n';
  expect(await here('run', 'run', 'nightly')).toEqual([1, [], refused]);
  await step(service, first, 'kill');
  const [, [second = '']] = await here('run', 'run', 'nightly', '{"kind":"weekly"}');
  expect(await read(service, second)).toMatchObject({ payload: { kind: 'weekly' } });
});

it('schedules pause, resume and delete change one schedule', async () => {
  await here('change', 'put', 'poll', 'poll', '--every', '10m');
  expect(await here('change', 'pause', 'poll')).toEqual([0, ['paused poll'], '']);
  expect(await scheduleOf('change', 'poll')).toMatchObject({ paused: true });
  expect(await here('change', 'resume', 'poll')).toEqual([0, ['resumed poll'], '']);
  expect(await scheduleOf('change', 'poll')).toMatchObject({ paused: false });
  expect(await here('change', 'delete', 'poll')).toEqual([0, ['deleted poll'], '']);
  expect(await here('change', 'get', 'poll')).toEqual([1, [], 'yardmaster: Schedule not found\n']);
  const [, [, ...entries]] = await yardmasterHere(['audit', '--limit', '4'], asAdmin(service)).end();
  expect(entries.map((line) => line.split(/ +/).slice(1, 4))).toEqual(
    ['delete', 'pause', 'pause', 'put'].map((act) => [`schedule.${act}`, 'poll', 'change']),
  );
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'yardmaster-schedules-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Write a file and sync it. */
function sync(spaceId: string, text: string, ...args: string[]) {
  const file = join(folder, 'schedules.json');
  writeFileSync(file, text);
  return here(spaceId, 'sync', file, ...args);
}

it('schedules sync declares the schedules of a file, and prints the counts', async () => {
  const declare = (...ids: string[]) =>
    JSON.stringify({
      owner: 'billing',
      schedules: ids.map((id) => ({ id, cron: '@daily', job: { name: id } })),
      prune: true,
    });
  expect(await sync('sync', declare('a', 'b'))).toEqual([0, ['2 created, 0 changed, 0 unchanged, 0 deleted'], '']);
  const [, [json = '']] = await sync('sync', declare('b', 'c'), '--json');
  expect(JSON.parse(json)).toEqual({ created: 1, changed: 0, unchanged: 1, deleted: 1 });
  const fromInput = yardmasterHere(
    ['schedules', 'sync', '-'],
    { ...asAdmin(service), YARDMASTER_SPACE: 'sync' },
    { readInput: async () => declare('b') },
  );
  expect(await fromInput.end()).toEqual([0, ['0 created, 0 changed, 1 unchanged, 1 deleted'], '']);
});

it.each([
  ['{"owner": "billing"', 2, /^yardmaster: .*schedules\.json is not JSON: unexpected end of input\n$/],
  [
    '{"owner": "billing", "schedules": [], "prun": true}',
    1,
    /^yardmaster: unknown field prun, did you mean prune\?\n$/,
  ],
  [
    '{"owner": "other", "schedules": [{"id": "a", "cron": "@daily", "job": {"name": "a"}}]}',
    1,
    /declared schedule a\n$/,
  ],
])('schedules sync refuses the file %s and says why', async (text, code, sentence) => {
  await here('refused', 'put', 'a', 'a', '--cron', '@daily', '--owner', 'billing');
  const [exit, lines, err] = await sync('refused', text);
  expect([exit, lines, err]).toEqual([code, [], expect.stringMatching(sentence)]);
});

it('schedules sync exits with 2 if it cannot read the file', async () => {
  const [code, , err] = await here('sync', 'sync', join(folder, 'none.json'));
  expect([code, err]).toEqual([2, expect.stringContaining('cannot read the file: ENOENT: no such file')]);
});

it.each([
  ['put nightly report --cron @daily', 429, 'TOO_MANY_SCHEDULES', 1],
  ['run nightly', 503, 'UNAVAILABLE', 6],
  ['delete nightly', 503, 'UNAVAILABLE', 6],
])('schedules %s is sent only once after %i %s', async (line, status, code, exit) => {
  const fake = await serve((_request, response) => response.writeHead(status).end(`{"error":"no","code":"${code}"}`));
  const env = { YARDMASTER_URL: fake.url, YARDMASTER_API_KEY: 'k', YARDMASTER_SPACE: 's' };
  const [ended] = await yardmasterHere(['schedules', ...line.split(' ')], env).end();
  expect([ended, fake.requests]).toEqual([exit, 1]);
});
