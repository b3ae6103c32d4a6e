import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'yardmaster-config-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));
afterEach(stopServing);

const fileOf = (folder: string) => join(folder, 'yardmaster', 'config.json');
const inHome = (): string => fileOf(join(home, '.config'));

/** Run a command, and return its exit code, its output as lines, and its standard error. */
const config = (line: string, env: Record<string, string> = {}, input = '') =>
  yardmasterHere(line.split(' '), { HOME: home, ...env }, { readInput: async () => input }).end();

/** Save two profiles, and use the first. */
async function saveTwo(url = 'http://prod.example') {
  await config(`config set prod --url ${url} --token ym_prod --space shop`);
  await config(`config set test --url ${url}/test`);
  await config('config use prod');
}

/** Return the request that a command line sends to a service, which responds with an empty list. */
async function asked(line: string, env: Record<string, string> = {}) {
  const seen: object[] = [];
  const fake = await serve(({ url, headers }, response) => {
    seen.push({ url: new URL(`http://x${url}`).pathname, key: headers['x-api-key'] });
    response.end('[]');
  });
  await saveTwo(fake.url);
  const [code, , err] = await config(line, env);
  return { code, err, seen };
}

it('config set, use, list and delete keep profiles in a file that only its owner can read', async () => {
  expect(await config('config list')).toEqual([0, [], 'no profiles found\n']);
  const [code, lines] = await config('config set prod --url http://prod.example --token -', {}, 'ym_prod\n');
  expect([code, lines]).toEqual([0, ['saved prod; use it with: yardmaster config use prod']]);
  expect(await config('config set prod --space shop')).toMatchObject([0, [expect.stringMatching(/^saved prod/)], '']);
  expect(await config('config use prod')).toEqual([0, ['using prod'], '']);
  expect(await config('config set prod --space shop')).toEqual([0, ['saved prod'], '']);
  expect(await config('config set test --url https://test.example/base')).toMatchObject([0, {}, '']);
  expect(JSON.parse(readFileSync(inHome(), 'utf8'))).toEqual({
    current: 'prod',
    profiles: {
      prod: { url: 'http://prod.example', token: 'ym_prod', space: 'shop' },
      test: { url: 'https://test.example/base' },
    },
  });
  expect(statSync(inHome()).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(inHome())).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(inHome()))).toEqual(['config.json']);
  expect(await config('config list')).toEqual([
    0,
    [
      'NAME  CURRENT  URL                        SPACE  KEY',
      'prod  yes      http://prod.example        shop   set',
      'test  -        https://test.example/base  -      -',
    ],
    '',
  ]);
  expect(await config('config delete prod')).toEqual([0, ['deleted prod'], '']);
  expect(JSON.parse(readFileSync(inHome(), 'utf8'))).toEqual({
    current: null,
    profiles: { test: { url: 'https://test.example/base' } },
  });
});

it('keeps profiles below XDG_CONFIG_HOME if that is set', async () => {
  const folder = join(home, 'xdg');
  await config('config set prod --url http://prod.example', { XDG_CONFIG_HOME: folder });
  expect(JSON.parse(readFileSync(fileOf(folder), 'utf8'))).toMatchObject({ profiles: { prod: {} } });
  expect(await config('config list')).toEqual([0, [], 'no profiles found\n']);
});

it('commands use the current profile, or another one with --profile or YARDMASTER_PROFILE', async () => {
  const jobs = { url: '/api/v1/spaces/shop/jobs', key: 'ym_prod' };
  expect(await asked('jobs')).toMatchObject({ code: 0, seen: [jobs] });
  expect(await config('open --print --profile test')).toEqual([0, [expect.stringMatching(/\/test\/ui\/#\/$/)], '']);
  const test = { YARDMASTER_PROFILE: 'test' };
  expect(await config('open --print', test)).toEqual([0, [expect.stringMatching(/\/test\/ui\/#\/$/)], '']);
  const [, [url]] = await config('open --print --profile prod', test);
  expect(url).toMatch(/#\/spaces\/shop$/);
});

it('options override variables, and variables override the profile', async () => {
  const env = { YARDMASTER_API_KEY: 'ym_variable', YARDMASTER_SPACE: 'variable' };
  expect(await asked('jobs', env)).toMatchObject({
    seen: [{ url: '/api/v1/spaces/variable/jobs', key: 'ym_variable' }],
  });
  expect(await asked('jobs --space option --token ym_option', env)).toMatchObject({
    seen: [{ url: '/api/v1/spaces/option/jobs', key: 'ym_option' }],
  });
  const elsewhere = { YARDMASTER_URL: 'http://variable.example' };
  expect(await config('open --print', elsewhere)).toMatchObject([0, ['http://variable.example/ui/#/spaces/shop'], '']);
  expect(await config('open --print --url http://option.example', elsewhere)).toEqual([
    0,
    ['http://option.example/ui/#/spaces/shop'],
    '',
  ]);
});

it.each<[string, Record<string, string>]>([
  ['--url http://127.0.0.1:9', {}],
  ['', { YARDMASTER_URL: 'http://127.0.0.1:9' }],
])('does not send the key of a profile to another URL: jobs %s with the variables %j', async (option, env) => {
  await saveTwo();
  const [code, , err] = await config(`jobs ${option}`.trim(), env);
  expect([code, err]).toEqual([2, expect.stringContaining('listing jobs requires an API key')]);
});

it('info shows which profile is used', async () => {
  await saveTwo('http://127.0.0.1:9');
  const [, lines] = await config('info');
  expect(lines).toContain('profile   prod');
  const [, [json = '']] = await config('info --json --profile test');
  expect(JSON.parse(json)).toMatchObject({ profile: 'test', url: 'http://127.0.0.1:9/test' });
});

it.each(['{', '[]', '{"current": null}', '{"current": null, "profiles": {"p": {"url": "x", "token": "ym_secret"}}}'])(
  'commands that call a service name the profile file if it is invalid: %s',
  async (content) => {
    mkdirSync(dirname(inHome()), { recursive: true });
    writeFileSync(inHome(), content);
    const sentence = `yardmaster: ${inHome()} is not a valid configuration file; fix or delete it\n`;
    for (const line of ['jobs', 'config list', 'config set a --url http://a']) {
      expect(await config(line)).toEqual([2, [], sentence]);
    }
    expect(await config('completion bash')).toMatchObject([0, expect.anything(), '']);
  },
);

it.each([
  ['jobs --profile other', 'there is no profile "other"; list the profiles with: yardmaster config list'],
  ['config use other', 'there is no profile "other"'],
  ['config delete toString', 'there is no profile "toString"'],
  ['config set other --space s', 'a new profile needs --url'],
  ['config set other --url prod.example', '--url must start with http:// or https://'],
  ['config set a/b --url http://a', 'the name may contain only letters, digits, _, . and -'],
  ['config set prod --token -', '--token is empty'],
])('refuses "%s" and changes no profile', async (line, sentence) => {
  await saveTwo();
  const before = readFileSync(inHome(), 'utf8');
  const [code, lines, err] = await config(line);
  expect([code, lines, err]).toEqual([2, [], expect.stringContaining(`yardmaster: ${sentence}`)]);
  expect(readFileSync(inHome(), 'utf8')).toBe(before);
});

it('config set explains that it has no folder, or cannot write there', async () => {
  const set = ['config', 'set', 'a', '--url', 'http://a'];
  expect(await yardmasterHere(set, {}).end()).toEqual([
    2,
    [],
    'yardmaster: no folder for profiles; set HOME or XDG_CONFIG_HOME\n',
  ]);
  writeFileSync(join(home, 'file'), '');
  const env = { XDG_CONFIG_HOME: join(home, 'file') };
  expect(await yardmasterHere(set, env).end()).toMatchObject([
    2,
    [],
    expect.stringMatching(/^yardmaster: cannot write /),
  ]);
});
