import { afterEach, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { endAll } from './yardmaster.js';

const service = withService();

const here = (...args: string[]) => yardmasterHere(args, asAdmin(service)).end();

it('shows the settings of a space, and changes them', async () => {
  expect(await here('settings', 'cli-set')).toEqual([0, ['no settings'], '']);
  const retry = 'defaults.retry={"delaySeconds":[1,2]}';
  const set = ['maxPending=5', 'retention.deadSeconds=60', retry, 'anonymousStreams=false'];
  const lines = [
    'anonymousStreams false',
    'defaults.retry {"delaySeconds":[1,2]}',
    'maxPending 5',
    'retention.deadSeconds 60',
  ];
  const [code, shown] = await here('settings', 'cli-set', ...set.flatMap((one) => ['--set', one]));
  expect([code, shown.sort()]).toEqual([0, lines]);
  await here('settings', 'cli-set', '--unset', 'defaults', '--unset', 'retention.deadSeconds', '--set', 'maxPending=6');
  const [, [json = '']] = await here('settings', 'cli-set', '--json');
  expect(JSON.parse(json)).toEqual({ maxPending: 6, anonymousStreams: false });
});

it('refuses a misspelled setting and suggests the right name', async () => {
  expect(await here('settings', 'cli-set', '--set', 'maxPendin=5')).toEqual([
    1,
    [],
    'yardmaster: unknown field maxPendin, did you mean maxPending?\n',
  ]);
  const [code, , err] = await here('settings', 'cli-set', '--set', '__proto__.x=5');
  expect([code, err]).toEqual([1, 'yardmaster: unknown field __proto__\n']);
});

it.each([
  ['--unset maxPending --set maxPending=1', 'maxPending may be given only once, with --set or --unset'],
  ['--set maxPending=1 --set maxPending=2', 'maxPending may be given only once, with --set or --unset'],
  ['--set defaults.maxRetries=1 --unset defaults', 'defaults.maxRetries and defaults cannot be combined'],
  ['--set defaults={} --set defaults.maxRetries=1', 'defaults.maxRetries and defaults cannot be combined'],
])('refuses options that give one setting twice: %s', async (flags, error) => {
  expect(await here('settings', 'cli-twice', ...flags.split(' '))).toEqual([2, [], expect.stringContaining(error)]);
});

it('pauses and resumes a space or some of its names, and shows what is paused in the statistics', async () => {
  await createJob(service, 'cli-pause', { name: 'resize' });
  const claimable = async () => (await service.call('POST', '/spaces/cli-pause/jobs/poll')).body.jobs.length;
  expect(await here('pause', 'cli-pause', '--name', 'resize', '--name', 'crop')).toEqual([
    0,
    ['paused resize, crop in cli-pause'],
    '',
  ]);
  expect((await here('stats', '--space', 'cli-pause'))[1]).toContain('paused: crop, resize');
  expect((await here('settings', 'cli-pause'))[1]).toEqual(['paused ["crop","resize"]']);
  expect(await here('pause', 'cli-pause')).toEqual([0, ['paused cli-pause'], '']);
  expect((await here('stats', '--space', 'cli-pause'))[1]).toContain('paused: the whole space');
  expect(await claimable()).toBe(0);
  expect(await here('resume', 'cli-pause', '--name', 'crop')).toEqual([
    0,
    ['resumed crop in cli-pause'],
    'the whole space is still paused; to resume it, run: yardmaster resume cli-pause\n',
  ]);
  expect(await here('resume', 'cli-pause')).toEqual([0, ['resumed cli-pause'], '']);
  expect(await claimable()).toBe(1);
  expect(await here('resume', 'cli-pause', '--name', 'crop')).toEqual([0, ['resumed crop in cli-pause'], '']);
});

afterEach(endAll);

const operations = (spaceId: string, ...args: string[]) =>
  yardmasterHere(['operations', ...args], { ...asAdmin(service), YARDMASTER_SPACE: spaceId });

it('operations start requeues dead jobs, waits until it is done, and prints the counts', async () => {
  const ids = [await jobIn(service, 'dead', 'cli-op'), await jobIn(service, 'dead', 'cli-op', { name: 'other' })];
  const run = operations('cli-op', 'start', 'requeue', '--status', 'dead', '--name', 'work', '--wait');
  expect(await run.end()).toEqual([0, ['done: 1 changed, 0 skipped, 2 examined'], '']);
  const statuses = await Promise.all(ids.map(async (id) => (await service.call('GET', `/jobs/${id}`)).body.status));
  expect(statuses).toEqual(['pending', 'dead']);
});

it('operations starts, shows, lists and cancels an operation', async () => {
  await jobIn(service, 'dead', 'cli-op-list');
  const [code, [id = '']] = await operations('cli-op-list', 'start', 'delete', '--status', 'dead', '--dry-run').end();
  expect(code).toBe(0);
  await until(async () => (await service.call('GET', `/operations/${id}`)).body.status === 'done');
  const shown = await operations('cli-op-list', 'get', id).end();
  expect(shown).toEqual([0, ['done: 1 would be changed, 0 skipped, 1 examined'], '']);
  const [, [titles = '', line = '']] = await operations('cli-op-list', 'list').end();
  expect(titles.split(/ +/)).toEqual(['ID', 'ACTION', 'STATUS', 'CHANGED', 'SKIPPED', 'EXAMINED', 'LEFT', 'STARTED']);
  expect(line).toMatch(new RegExp(`^${id} +delete \\(dry run\\) +done +1 +0 +1 +0 `));
  expect(await operations('cli-op-list', 'cancel', id).end()).toEqual([0, [`canceled ${id}`], '']);
});

it('operations start prints why the service refuses an operation', async () => {
  const [code, out, err] = await operations('cli-op', 'start', 'requeue', '--status', 'completed').end();
  expect([code, out]).toEqual([1, []]);
  expect(err).toContain('filter.status must be one of dead, killed with action requeue');
});

afterEach(stopServing);

/** Run a command in this process, with the admin key unless other variables are given. */
const run = (args: string[], env: Record<string, string> = {}) =>
  yardmasterHere(args, { ...asAdmin(service), ...env }).end();

it('creates a working key, lists it, and revokes it', async () => {
  const args = ['--name', 'ci', '--scope', 'jobs:read,jobs:create', '--scope', 'jobs:kill', '--expires', '30d'];
  const [code, [key = ''], err] = await run(['keys', 'create', ...args, '--space', 'shop']);
  const [, id = ''] = /^ym_([a-z0-9]+)_/.exec(key) ?? [];
  expect([code, err]).toEqual([0, expect.stringContaining(`key ${id} for the space shop, expires at 2`)]);

  const [, [json = '']] = await run(['keys', 'list', '--json']);
  const scopes = ['jobs:read', 'jobs:create', 'jobs:kill'];
  expect(JSON.parse(json)).toMatchObject({ id, name: 'ci', spaceId: 'shop', scopes });
  const [, table] = await run(['keys', 'list']);
  expect(table[1]).toMatch(new RegExp(`^${id} +ci +shop +T +- +- +jobs:read,jobs:create,jobs:kill$`));

  const jobs = ['jobs', '--space', 'shop', '--token', key];
  expect((await run(jobs))[0]).toBe(0);
  expect(await run(['keys', 'revoke', id])).toEqual([0, [`revoked ${id}`], '']);
  expect(await run(jobs)).toEqual([1, [], 'yardmaster: A valid API key is required\n']);
});

it('lists several pages of keys, reports when there are more, and revokes one without those created with it', async () => {
  const { id, key } = await service.key(['keys:manage', 'jobs:read'], { spaceId: 'many' });
  const body = { name: 'made', scopes: ['jobs:read'] };
  const made = await Promise.all(Array.from({ length: 104 }, () => service.call('POST', '/keys', { key, body })));
  const list = (...flags: string[]) => run(['keys', 'list', '--json', '--token', key, ...flags]);
  const [code, lines, err] = await list();
  const ids = lines.map((line) => JSON.parse(line).id);
  expect([code, new Set(ids), ids.length, err]).toEqual([
    0,
    new Set([id, ...made.map(({ body }) => body.id)]),
    105,
    '',
  ]);
  const more = 'only the newest 102 keys are listed; use --limit to list more\n';
  expect(await list('--limit', '102')).toEqual([0, lines.slice(0, 102), more]);

  const [child] = ids;
  const self = async () =>
    (await run(['keys', 'self', '--token', made.find((one) => one.body.id === child)?.body.key]))[1];
  expect(await self()).toContain(`created by ${id}`);
  expect((await run(['keys', 'revoke', id, '--keep-children']))[0]).toBe(0);
  expect(await self()).toContain(`id         ${child}`);
});

it('rotates a key, and both secrets work until the overlap ends', async () => {
  const { id, key } = await service.key(['jobs:read'], { spaceId: 'shop' });
  const jobs = (text: string) => run(['jobs', '--space', 'shop', '--token', text]);
  const [code, [next = ''], err] = await run(['keys', 'rotate', id, '--overlap', '60']);
  expect([code, err]).toEqual([0, 'the old secret keeps working for 60 s\n']);
  expect([(await jobs(key))[0], (await jobs(next))[0]]).toEqual([0, 0]);
  const [, [json = ''], none] = await run(['keys', 'rotate', id, '--overlap', '0', '--json']);
  expect([JSON.parse(json).id, none]).toEqual([id, '']);
  expect([(await jobs(next))[0], (await jobs(JSON.parse(json).key))[0]]).toEqual([1, 0]);
});

it('creates a key with limits, and keys self shows them', async () => {
  const create = ['keys', 'create', '--scope', 'jobs:read', '--space', 'shop', '--name', 'slow', '--limit', '2.5'];
  for (const [burst, most] of [
    [[], 3],
    [['--burst', '9'], 9],
  ] as const) {
    const [, [key = '']] = await run([...create, ...burst]);
    const [code, lines] = await run(['keys', 'self', '--token', key]);
    expect([code, ...lines.slice(1)]).toEqual([
      0,
      'name       slow',
      'space      shop',
      'scopes     jobs:read',
      'expires    never',
      'last used  -',
      `limits     2.5 calls per second, ${most} at once`,
    ]);
    const [, [json = '']] = await run(['keys', 'self', '--token', key, '--json']);
    expect(JSON.parse(json)).toMatchObject({ name: 'slow', limits: { perSecond: 2.5, burst: most } });
  }
});

it('shows no last use of ADMIN_API_KEY, because the service does not store it', async () => {
  const [code, lines] = await run(['keys', 'self']);
  expect([code, ...lines.map((line) => line.split(/ +/)[0])]).toEqual([
    0,
    ...['id', 'name', 'space', 'scopes', 'expires', 'limits'],
  ]);
});

it('creates a stream token, and shows when it expires', async () => {
  const create = ['stream-token', '--scope', 'jobs:read'];
  const [code, lines, err] = await run([...create, '--tag', 'a']);
  expect([code, lines]).toEqual([0, [expect.stringMatching(/^ymst_/)]]);
  expect(err).toMatch(/^expires at \d{4}-.+Z\n$/);
  const [, [json = ''], none] = await run([...create, '--space', 'shop', '--json']);
  expect([JSON.parse(json), none]).toEqual([{ token: expect.stringMatching(/^ymst_/), expiresAt: 'T' }, '']);
  const refused = 'yardmaster: expiresInSeconds must be an integer between 60 and 86400\n';
  expect(await run([...create, '--tag', 'a', '--expires-in', '5'])).toEqual([1, [], refused]);
});

it('audit lists who did what', async () => {
  const { id } = await service.key(['jobs:read'], { name: 'of-audit', spaceId: 'shop' });
  await service.call('DELETE', `/keys/${id}`);
  const [code, [title, ...rows]] = await run(['audit', '--limit', '120']);
  expect([code, title]).toEqual([0, expect.stringMatching(/^AT +ACTION +SUBJECT +SPACE +KEY +ADDRESS$/)]);
  expect(rows.filter((row) => row.includes('of-audit'))).toEqual(
    ['key.revoke', 'key.create'].map((action) =>
      expect.stringMatching(new RegExp(`\\b${action} +of-audit +shop +ADMIN_API_KEY \\(admin\\) +127.0.0.1$`)),
    ),
  );
  const [, lines] = await run(['audit', '--limit', '120', '--json']);
  const revoked = lines.map((line) => JSON.parse(line)).filter(({ details }) => details.keyId === id);
  expect(revoked.map(({ action }) => action)).toEqual(['key.revoke', 'key.create']);
});

it('binds a key to YARDMASTER_SPACE, or to no space without that variable', async () => {
  const create = ['keys', 'create', '--scope', 'jobs:read', '--json'];
  const spaceOf = async (env = {}) => JSON.parse((await run(create, env))[1][0] as string).spaceId;
  expect([await spaceOf(), await spaceOf({ YARDMASTER_SPACE: 's' })]).toEqual([null, 's']);
});

it('refuses an unknown scope of a key and names the field', async () => {
  const [code, , err] = await run(['keys', 'create', '--scope', 'jobs:raed']);
  expect([code, err]).toEqual([1, expect.stringMatching(/^yardmaster: scopes\[0\] must be one of jobs:create/)]);
});

it('does not retry the creation of a key when its outcome is unknown', async () => {
  const fake = await serve((_request, response) => response.writeHead(503).end('{"error":"x","code":"UNAVAILABLE"}'));
  const [code, , err] = await run(['keys', 'create', '--scope', 'jobs:read'], { YARDMASTER_URL: fake.url });
  expect([code, err, fake.requests]).toEqual([6, 'yardmaster: the service is unavailable: x\n', 1]);
});

it('info shows both versions, and that the URL and the key work', async () => {
  const [code, lines, err] = await run(['info', '--space', 'shop']);
  expect([code, err]).toEqual([0, '']);
  expect(lines).toEqual([
    expect.stringMatching(/^cli {7}\d+\.\d+\.\d+$/),
    expect.stringMatching(/^service {3}\d+\.\d+\.\d+ at http:/),
    expect.stringContaining('long-poll'),
    'key       works, and can manage keys',
    'space     shop: the key can read its jobs',
  ]);
});

it('info shows which scope a key lacks', async () => {
  const { key } = await service.key(['jobs:create'], { spaceId: 'shop' });
  const [code, lines] = await run(['info', '--space', 'shop'], { YARDMASTER_API_KEY: key });
  expect([code, ...lines.slice(3)]).toEqual([
    0,
    'key       works',
    'space     shop: Missing required scope: jobs:read',
  ]);
});

it.each([
  ['no key', { YARDMASTER_API_KEY: '' }, 1, 'no API key is set; set YARDMASTER_API_KEY'],
  [
    'an unknown key',
    { YARDMASTER_API_KEY: 'ym_wrong' },
    1,
    'the API key is unknown, revoked or expired; set YARDMASTER_API_KEY',
  ],
  [
    'a port without a listener',
    { YARDMASTER_URL: 'http://127.0.0.1:1' },
    6,
    'cannot connect to http://127.0.0.1:1 (connection refused); is YARDMASTER_URL correct?',
  ],
])('info explains %s', async (_, env, code, sentence) => {
  const [exit, , err] = await run(['info'], env);
  expect([exit, err]).toEqual([code, `yardmaster: ${sentence}\n`]);
});

it.each([
  ['a page', 200, '<html>Welcome</html>'],
  ['other JSON', 200, '{"service":"other"}'],
  ['a 404', 404, 'no'],
])('info reports that a server which responds with %s is not Yardmaster', async (_, status, body) => {
  const fake = await serve((_request, response) => response.writeHead(status).end(body));
  const [code, , err] = await run(['info'], { YARDMASTER_URL: fake.url });
  expect([code, err]).toEqual([1, expect.stringContaining(`the server at ${fake.url} is not Yardmaster`)]);
});
