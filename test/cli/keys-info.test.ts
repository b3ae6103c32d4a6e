import { afterEach, expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';

const service = withService();
afterEach(stopServing);

/** Run a command in this process, as admin unless other variables are given. */
const here = (args: string[], env: Record<string, string> = {}) =>
  yardmasterHere(args, { ...asAdmin(service), ...env }).end();

it('creates a key that works, lists it, and revokes it', async () => {
  const args = ['--name', 'ci', '--scope', 'jobs:read,jobs:create', '--scope', 'jobs:kill', '--expires', '30d'];
  const [code, [key = ''], err] = await here(['keys', 'create', ...args, '--space', 'shop']);
  const [, id = ''] = /^ym_([a-z0-9]+)_/.exec(key) ?? [];
  expect([code, err]).toEqual([0, expect.stringContaining(`key ${id} for the space shop, 2`)]);

  const [, [json = '']] = await here(['keys', 'list', '--json']);
  const scopes = ['jobs:read', 'jobs:create', 'jobs:kill'];
  expect(JSON.parse(json)).toMatchObject({ id, name: 'ci', spaceId: 'shop', scopes });
  const [, table] = await here(['keys', 'list']);
  expect(table[1]).toMatch(new RegExp(`^${id} +ci +shop +T +- +jobs:read,jobs:create,jobs:kill$`));

  const jobs = ['jobs', '--space', 'shop', '--token', key];
  expect((await here(jobs))[0]).toBe(0);
  expect(await here(['keys', 'revoke', id])).toEqual([0, [`revoked ${id}`], '']);
  expect(await here(jobs)).toEqual([1, [], 'yardmaster: A valid API key is required\n']);
});

it('rotates a key, and both secrets work until the overlap is over', async () => {
  const { id, key } = await service.key(['jobs:read'], { spaceId: 'shop' });
  const jobs = (text: string) => here(['jobs', '--space', 'shop', '--token', text]);
  const [code, [next = ''], err] = await here(['keys', 'rotate', id, '--overlap', '60']);
  expect([code, err]).toEqual([0, 'the secret before it ends in 60 s\n']);
  expect([(await jobs(key))[0], (await jobs(next))[0]]).toEqual([0, 0]);
  const [, [json = ''], none] = await here(['keys', 'rotate', id, '--overlap', '0', '--json']);
  expect([JSON.parse(json).id, none]).toEqual([id, '']);
  expect([(await jobs(next))[0], (await jobs(JSON.parse(json).key))[0]]).toEqual([1, 0]);
});

it('creates a key with limits, and keys self shows them', async () => {
  const create = ['keys', 'create', '--scope', 'jobs:read', '--space', 'shop', '--name', 'slow', '--limit', '2.5'];
  for (const [burst, most] of [
    [[], 3],
    [['--burst', '9'], 9],
  ] as const) {
    const [, [key = '']] = await here([...create, ...burst]);
    const [code, lines] = await here(['keys', 'self', '--token', key]);
    expect([code, ...lines.slice(1)]).toEqual([
      0,
      'name      slow',
      'space     shop',
      'scopes    jobs:read',
      'expires   never',
      'last used -',
      `limits    2.5 calls per second, ${most} at once`,
    ]);
    const [, [json = '']] = await here(['keys', 'self', '--token', key, '--json']);
    expect(JSON.parse(json)).toMatchObject({ name: 'slow', limits: { perSecond: 2.5, burst: most } });
  }
});

it('shows no last use of ADMIN_API_KEY, because the service does not store it', async () => {
  const [code, lines] = await here(['keys', 'self']);
  expect([code, ...lines.map((line) => line.split(/ +/)[0])]).toEqual([
    0,
    ...['id', 'name', 'space', 'scopes', 'expires', 'limits'],
  ]);
});

it('creates a stream token, and shows when it expires', async () => {
  const create = ['stream-token', '--scope', 'jobs:read'];
  const [code, lines, err] = await here([...create, '--tag', 'a']);
  expect([code, lines]).toEqual([0, [expect.stringMatching(/^ymst_/)]]);
  expect(err).toMatch(/^expires at \d{4}-.+Z\n$/);
  const [, [json = ''], none] = await here([...create, '--space', 'shop', '--json']);
  expect([JSON.parse(json), none]).toEqual([{ token: expect.stringMatching(/^ymst_/), expiresAt: 'T' }, '']);
  const refused = 'yardmaster: expiresInSeconds must be an integer between 60 and 86400\n';
  expect(await here([...create, '--tag', 'a', '--expires-in', '5'])).toEqual([1, [], refused]);
});

it('audit lists who did what', async () => {
  const { id } = await service.key(['jobs:read'], { name: 'of-audit', spaceId: 'shop' });
  await service.call('DELETE', `/keys/${id}`);
  const [code, [title, ...rows]] = await here(['audit', '--limit', '120']);
  expect([code, title]).toEqual([0, expect.stringMatching(/^AT +ACTION +SUBJECT +SPACE +KEY +ADDRESS$/)]);
  expect(rows.filter((row) => row.includes('of-audit'))).toEqual(
    ['key.revoke', 'key.create'].map((action) =>
      expect.stringMatching(new RegExp(`\\b${action} +of-audit +shop +ADMIN_API_KEY \\(admin\\) +127.0.0.1$`)),
    ),
  );
  const [, lines] = await here(['audit', '--limit', '120', '--json']);
  const revoked = lines.map((line) => JSON.parse(line)).filter(({ details }) => details.keyId === id);
  expect(revoked.map(({ action }) => action)).toEqual(['key.revoke', 'key.create']);
});

it('binds a key to YARDMASTER_SPACE, or to no space without that variable', async () => {
  const create = ['keys', 'create', '--scope', 'jobs:read', '--json'];
  const spaceOf = async (env = {}) => JSON.parse((await here(create, env))[1][0] as string).spaceId;
  expect([await spaceOf(), await spaceOf({ YARDMASTER_SPACE: 's' })]).toEqual([null, 's']);
});

it('refuses an unknown scope of a key by its field', async () => {
  const [code, , err] = await here(['keys', 'create', '--scope', 'jobs:raed']);
  expect([code, err]).toEqual([1, expect.stringMatching(/^yardmaster: scopes\[0\] must be one of jobs:create/)]);
});

it('sends the creation of a key only once when its outcome is unknown, so that no second key remains', async () => {
  const fake = await serve((_request, response) => response.writeHead(503).end('{"error":"x","code":"UNAVAILABLE"}'));
  const [code, , err] = await here(['keys', 'create', '--scope', 'jobs:read'], { YARDMASTER_URL: fake.url });
  expect([code, err, fake.requests]).toEqual([6, 'yardmaster: the service did not serve the call: x\n', 1]);
});

it('info shows both versions, and that address and key work', async () => {
  const [code, lines, err] = await here(['info', '--space', 'shop']);
  expect([code, err]).toEqual([0, '']);
  expect(lines).toEqual([
    expect.stringMatching(/^command {3}\d+\.\d+\.\d+$/),
    expect.stringMatching(/^service {3}\d+\.\d+\.\d+ at http:/),
    expect.stringContaining('long-poll'),
    'key       works, and may manage keys',
    'space     shop: the key may read its jobs',
  ]);
});

it('info shows which scope a key lacks', async () => {
  const { key } = await service.key(['jobs:create'], { spaceId: 'shop' });
  const [code, lines] = await here(['info', '--space', 'shop'], { YARDMASTER_API_KEY: key });
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
    'the API key is unknown, was revoked, or has expired; set YARDMASTER_API_KEY',
  ],
  [
    'a port where nothing listens',
    { YARDMASTER_URL: 'http://127.0.0.1:1' },
    6,
    'no connection to http://127.0.0.1:1 (ECONNREFUSED: nothing listens there); is YARDMASTER_URL right?',
  ],
])('info explains %s', async (_, env, code, sentence) => {
  const [exit, , err] = await here(['info'], env);
  expect([exit, err]).toEqual([code, `yardmaster: ${sentence}\n`]);
});

it.each([
  ['a page', 200, '<html>Welcome</html>'],
  ['other JSON', 200, '{"service":"other"}'],
  ['a 404', 404, 'no'],
])('info reports that a server which responds with %s is not Yardmaster', async (_, status, body) => {
  const fake = await serve((_request, response) => response.writeHead(status).end(body));
  const [code, , err] = await here(['info'], { YARDMASTER_URL: fake.url });
  expect([code, err]).toEqual([1, expect.stringContaining(`the server at ${fake.url} is not Yardmaster`)]);
});
