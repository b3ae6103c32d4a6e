import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { runProgram, Service } from '@yardmaster/cli';
import { NO_INPUT } from './in-process.js';

type Env = Record<string, string>;

const KEY: Env = { YARDMASTER_API_KEY: 'k' };

/** Run a command line whose command only records the request, and ends with this code and sentence. */
async function run(args: string[], env = KEY, code = 7, sentence: string | null = null) {
  let [out, err, name] = ['', '', ''];
  let request: unknown = null;
  const returned = await runProgram(args, {
    env,
    io: {
      out: { write: (text) => (out += text) },
      err: { write: (text) => (err += text) },
      waitForDrain: () => null,
      interruptSignal: () => new AbortController().signal,
      ...NO_INPUT,
    },
    async run(command, read) {
      name = command.name;
      request = read;
      return { exit: { code, meaning: '' }, sentence };
    },
  });
  return { code: returned, out, err, name, request };
}

const at = (url: string, token: string | null) => ({ service: new Service(new URL(url), token) });
const atHome = { ...at('http://127.0.0.1:8080', null), timeoutSeconds: null, format: 'auto' };
const withKey = at('http://127.0.0.1:8080', 'k');
const IN_SPACE: Env = { ...KEY, YARDMASTER_SPACE: 's' };
/** Part of the request of every command that calls the service with a key. */
const called = { ...withKey, isJson: false };
const inSpace = { ...called, spaceId: 's' };
const ofJob = { subject: { kind: 'job', jobId: 'job' } };
const redis = { REDIS_URL: 'redis://one', KEY_PREFIX: 'p', RETENTION_SECONDS: '5' };

it.each([
  ['watch job', {}, { ...atHome, ...ofJob, since: null, tags: [] }],
  ['logs job', KEY, { ...atHome, ...withKey, jobId: 'job', follow: false, levels: [], grep: null, tail: null }],
  ['callback-secret s', KEY, { ...called, spaceId: 's' }],
  [
    'create resize',
    IN_SPACE,
    {
      ...inSpace,
      body: { name: 'resize' },
      payload: null,
      idempotencyKey: null,
      waitSeconds: null,
    },
  ],
  ['jobs', IN_SPACE, { ...withKey, spaceId: 's', query: {}, limit: 50, offset: 0, output: 'table' }],
  ['get job', KEY, { ...called, id: 'job', hasHistory: true }],
  ['kill job other', KEY, { ...withKey, ids: ['job', 'other'], flags: {} }],
  ['release job', KEY, { ...called, id: 'job', reason: null, delaySeconds: null, deliveryToken: null }],
  ['requeue job --delay 5', KEY, { ...withKey, ids: ['job'], flags: { delay: 5 } }],
  ['copy job', KEY, { ...called, id: 'job', payload: null }],
  [
    'operations start kill --status pending --status running --tag a --query x --id j --limit 5 --dry-run --reason r',
    IN_SPACE,
    {
      ...inSpace,
      mustWait: false,
      isSure: false,
      body: {
        action: 'kill',
        filter: { status: ['pending', 'running'], tags: ['a'], q: 'x', ids: ['j'] },
        limit: 5,
        dryRun: true,
        reason: 'r',
      },
    },
  ],
  ['operations list --json', IN_SPACE, { ...inSpace, isJson: true }],
  ['operations get op', KEY, { ...called, id: 'op' }],
  ['operations cancel op', KEY, { ...called, id: 'op' }],
  [
    'schedules put nightly report --cron @daily',
    IN_SPACE,
    { ...inSpace, id: 'nightly', schedule: { cron: '@daily' }, job: { name: 'report' }, payload: null },
  ],
  ['schedules list', IN_SPACE, inSpace],
  ['schedules get nightly', IN_SPACE, { ...inSpace, id: 'nightly' }],
  ['schedules run nightly', IN_SPACE, { ...inSpace, id: 'nightly', payload: null }],
  ['delete job', KEY, { ...withKey, ids: ['job'], flags: {} }],
  ['settings s', KEY, { ...inSpace, change: null }],
  ['settings', IN_SPACE, { ...inSpace, change: null }],
  ['pause', IN_SPACE, { ...inSpace, names: null }],
  ['resume s --name a', KEY, { ...inSpace, names: ['a'] }],
  ['stats', IN_SPACE, { ...inSpace, names: [], limit: null, history: null }],
  ['spaces', KEY, { ...called, limit: 1_000 }],
  ['info', {}, { ...at('http://127.0.0.1:8080', null), spaceId: null, profile: null, isJson: false }],
  ['open', {}, { url: 'http://127.0.0.1:8080/ui/#/', browser: null }],
  ['completion zsh', {}, { shell: 'zsh' }],
  ['keys list', KEY, { ...called, limit: 1_000 }],
  ['keys list --limit 5', KEY, { ...called, limit: 5 }],
  ['keys revoke id', KEY, { ...called, id: 'id', keepChildren: null }],
  ['keys revoke id --keep-children', KEY, { ...called, id: 'id', keepChildren: 'true' }],
  ['stream-token --scope jobs:read', IN_SPACE, { ...called, body: { scope: 'jobs:read', spaceId: 's' } }],
  [
    'work --exec ./resize.sh --worker-id w -- --fast',
    IN_SPACE,
    {
      ...withKey,
      spaceId: 's',
      names: [],
      program: { file: './resize.sh', args: ['--fast'], env: IN_SPACE },
      concurrency: 1,
      drainSeconds: 20,
      workerId: 'w',
    },
  ],
  ['fsck', redis, { isRepairing: false, isVerbose: false, format: 'auto', variables: redis }],
] as [string, Env, object][])(
  'passes "%s" to its command with all defaults, and returns the exit code of the command',
  async (line, env, request) => {
    const args = line.split(' ');
    const { name, ...rest } = await run(args, env);
    expect(rest).toEqual({ code: 7, out: '', err: '', request });
    expect(line.startsWith(name)).toBe(true);
  },
);

it('prints the sentence that a command returns to standard error', async () => {
  const { code, out, err } = await run(['watch', 'job'], {}, 9, 'because');
  expect([code, out, err]).toEqual([9, '', 'yardmaster: because\n']);
});

const elsewhere: Env = { YARDMASTER_URL: 'https://yard.example/base', YARDMASTER_API_KEY: 'k' };
const flags = ['--url', 'http://other', '--token', 't', '--timeout', '1.5', '--json'];
const fromFlags = { ...at('http://other', 't'), timeoutSeconds: 1.5, format: 'json' };
const ofSpace = { subject: { kind: 'space', spaceId: 's' }, ...at('https://yard.example/base', 'k') };
const logOptions = ['--follow', '--level', 'warn,error', '--grep', 'a "b" .*', '--tail', '50'];

it.each([
  [['watch', '--space', 's'], elsewhere, ofSpace],
  [['watch', 'job', ...flags], elsewhere, { ...ofJob, ...fromFlags }],
  [['watch', 'job'], { YARDMASTER_URL: '', YARDMASTER_API_KEY: '', NO_COLOR: '' }, { ...ofJob, ...atHome }],
  [['watch', 'job', '--plain'], {}, { format: 'plain' }],
  [['watch', 'job', '--since', '0'], {}, { ...ofJob, since: 0 }],
  [['watch', '--tag', 'a', '--tag', 'b'], IN_SPACE, { tags: ['a', 'b'] }],
  [['watch', 'job'], { NO_COLOR: '1' }, { format: 'plain' }],
  [['watch', 'job'], { TERM: 'dumb' }, { format: 'plain' }],
  [['fsck'], { ...redis, NO_COLOR: '1' }, { format: 'plain' }],
  [['logs', 'job', '--plain'], KEY, { format: 'plain' }],
  [['logs', 'job'], { ...KEY, NO_COLOR: '1' }, { format: 'plain' }],
  [
    ['logs', 'job', ...logOptions, ...flags],
    elsewhere,
    { jobId: 'job', follow: true, levels: ['warn', 'error'], grep: 'a "b" .*', tail: 50, ...fromFlags },
  ],
  [['watch'], IN_SPACE, { subject: { kind: 'space', spaceId: 's' } }],
  [['watch', 'job'], { YARDMASTER_SPACE: 's' }, ofJob],
  [['callback-secret'], IN_SPACE, inSpace],
  [
    ['jobs', '--space', 'other', '--status', 'dead', '--status', 'killed', '--all'],
    IN_SPACE,
    { spaceId: 'other', query: { status: ['dead', 'killed'] }, limit: Number.POSITIVE_INFINITY },
  ],
  [['info', '--space', 'other'], IN_SPACE, { spaceId: 'other' }],
  [['stats', '--name', 'a', '--name', 'b,c'], IN_SPACE, { names: ['a', 'b,c'] }],
  [['open', 'a/b'], IN_SPACE, { url: 'http://127.0.0.1:8080/ui/#/jobs/a%2Fb' }],
  [['open'], IN_SPACE, { url: 'http://127.0.0.1:8080/ui/#/spaces/s' }],
  [['open', '--space', 'a b'], elsewhere, { url: 'https://yard.example/base/ui/#/spaces/a%20b' }],
  [['jobs', '--after', '20260801T0000Z'], IN_SPACE, { query: { createdAfter: '20260801T0000Z' } }],
  [['jobs', '-o', 'yaml'], IN_SPACE, { output: 'yaml' }],
  [['jobs', '--json'], IN_SPACE, { output: 'json' }],
  [
    ['stats', '--history', 'hours', '--from', '2026-08-01T00:00:00Z'],
    IN_SPACE,
    { history: { step: 'hours', from: '2026-08-01T00:00:00Z', to: null } },
  ],
  [
    ['work', '--exec', 'x', '--name', 'a', '--name', 'b', '--concurrency', '4'],
    IN_SPACE,
    { names: ['a', 'b'], concurrency: 4 },
  ],
  [['work', '--exec', 'x', '--drain', '2m'], IN_SPACE, { drainSeconds: 120 }],
  [
    ['stream-token', '--scope', 'jobs:read:progress', '--job', 'a', '--job', 'b', '--expires-in', '60'],
    IN_SPACE,
    { body: { scope: 'jobs:read:progress', jobIds: ['a', 'b'], expiresInSeconds: 60 } },
  ],
  [['callback-secret', 's'], elsewhere, { ...at('https://yard.example/base', 'k'), spaceId: 's' }],
  [['callback-secret', 's', ...flags.slice(0, 4)], elsewhere, { ...at('http://other', 't'), spaceId: 's' }],
  [['logs', '-f', 'job'], KEY, { follow: true }],
  [['logs', '--level', 'warn', '--level', 'error,fatal', 'job'], KEY, { levels: ['warn', 'error', 'fatal'] }],
  [['logs', '--level', ' info , trace', 'job'], KEY, { levels: ['info', 'trace'] }],
  [['logs', '--tail', '0', 'job'], KEY, { tail: 0 }],
  [['logs', '--tail=7', 'job'], KEY, { tail: 7 }],
  [['logs', '--grep', '--follow', 'job'], KEY, { grep: '--follow', follow: false }],
  [['logs', '--grep', ' ', 'job'], KEY, { grep: ' ' }],
  [
    ['fsck', '--repair', '--verbose', '--json', '--redis', 'redis://two', '--prefix', 'q'],
    { ...redis, NO_COLOR: '1' },
    { isRepairing: true, isVerbose: true, format: 'json', variables: { REDIS_URL: 'redis://two', KEY_PREFIX: 'q' } },
  ],
  [
    ['fsck', '--redis', 'redis://two', 'show', 'job', '--json', '--prefix', 'q'],
    redis,
    { jobId: 'job', isJson: true, variables: { REDIS_URL: 'redis://two', KEY_PREFIX: 'q' } },
  ],
] as [string[], Env, object][])('reads the arguments %j with the variables %j', async (args, env, fields) => {
  expect((await run(args, env)).request).toMatchObject(fields);
});

it.each([
  [
    '',
    [
      'watch [options] [jobId] ',
      'logs [options] <jobId> ',
      'create [options] <name> [payload] ',
      'work [options] [args...] ',
      'keys ',
      'completion <shell> ',
      'fsck [options] ',
      'Print the log of a job',
      '\nJobs:\n  create ',
      '\nService:\n  info ',
      'https://github.com/yardmaster/yardmaster/blob/main/docs/cli.md\n',
    ],
  ],
  ['watch', ['$YARDMASTER_API_KEY', '  124  --timeout expired']],
  ['logs', ['-f, --follow', '--level <levels>', '--grep <text>', '--tail <count>', 'jobs:read']],
  ['create', ['--unique <key>', '--wait <time>', 'jobs:create', '    4  the job was killed']],
  [
    'work',
    ['--exec <program>', 'progress 40 Resizing', 'YARDMASTER_CHECKPOINT', '   65  it fails', '    6  the worker'],
  ],
  [
    'keys',
    ['create [options]', 'list [options]', 'rotate [options] <keyId>', 'revoke [options] <keyId>', 'self [options]'],
  ],
  ['keys rotate', ['--overlap <time>', 'keys:manage']],
  ['keys list', ['--limit <count>', 'keys:manage']],
  ['keys revoke', ['--keep-children', 'keys:manage']],
  ['stream-token', ['--job <jobId>', '--tag <tag>', '--space <spaceId>', '--expires-in <time>']],
  ['audit', ['--limit <count>', 'keys:manage']],
  ['keys create', ['--scope <scopes>', '--expires <time>', 'keys:manage', '    6  the service was unreachable']],
  ['completion', ['source <(yardmaster completion bash)']],
  ['callback-secret', ['keys:manage', '--url <url>', '--token <key>']],
  [
    'fsck',
    [
      '--repair',
      '--verbose',
      '--redis <url>',
      '--prefix <prefix>',
      'RETENTION_SECONDS',
      '    1  faults remain',
      'show [options] <jobId>',
    ],
  ],
  ['fsck show', ['--json', '--redis <url>', '--prefix <prefix>', 'show: the job does not exist']],
])('explains "%s" with --help', async (command, texts) => {
  const { code, out, err } = await run([...command.split(' ').filter(Boolean), '--help'], {});
  expect([code, err]).toEqual([0, '']);
  for (const text of texts) expect(out).toContain(text);
});

/** Return all commands below a command of the help, and the command itself unless it only has subcommands. */
async function commandsIn(path: string[]): Promise<string[]> {
  const { out } = await run([...path, '--help'], {});
  const own = out.includes('\nExample:\n') ? [path.join(' ')] : [];
  if (!/^Usage: .*\[command\]$/m.test(out)) return own;
  const names = [...out.matchAll(/^ {2}([a-z][a-z-]*) (?=[[<]| {2})/gm)].map(([, name = '']) => name);
  const commands = names.filter((name) => name !== 'help').map((name) => commandsIn([...path, name]));
  return [...own, ...(await Promise.all(commands)).flat()];
}

it('ends the help of each command with an example that the command reads', async () => {
  const commands = await commandsIn([]);
  expect(commands).toEqual(expect.arrayContaining(['create', 'keys list', 'config set', 'fsck', 'fsck show']));
  for (const command of commands) {
    const { out } = await run([...command.split(' '), '--help'], {});
    const [, line = ''] = /\nExample:\n {2}yardmaster (.+)\n$/.exec(out) ?? [];
    const words = line.replace(/ < \S+$/, '').match(/'[^']*'|\S+/g) ?? [];
    const { name, code, err } = await run(words.map((word) => word.replaceAll("'", '')));
    expect([command, name, code, err]).toEqual([command, command, 7, '']);
  }
});

it.each([
  ['{"a": [1,\n2,]}', 'unexpected character at line 2, column 3'],
  ["{'a': 1}", 'unexpected character at line 1, column 2'],
  ['{"a": tru}', 'unexpected character at line 1, column 10'],
  ['{"a": 1} x', 'unexpected character at line 1, column 10'],
  ['{"a": "b\nc"}', 'unexpected character at line 1, column 9'],
  ['{"a": "b', 'unexpected end of input'],
])('refuses the payload %j and shows where it stops being JSON', async (payload, fault) => {
  expect(await run(['create', 'a', payload], IN_SPACE)).toMatchObject({
    code: 2,
    err: `yardmaster: payload is not JSON: ${fault}\n`,
  });
});

it.each([
  [['jobs', '--after'], '2h', -7_200_000],
  [['jobs', '--before'], '30m', -1_800_000],
  [['stats', '--history', 'hours', '--from'], '7d', -604_800_000],
  [['operations', 'start', 'kill', '--status', 'pending', '--created-before'], '1d', -86_400_000],
  [['keys', 'create', '--scope', 'jobs:read', '--expires'], '12h', 43_200_000],
])('reads the time of %j relative to now: %s', async (args, time, ms) => {
  const before = Date.now();
  const { request } = await run([...args, time], IN_SPACE);
  const [text = ''] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(JSON.stringify(request)) ?? [];
  const at = Date.parse(text) - ms;
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});

const LEVELS = 'Each must be one of trace, debug, info, warn, error, fatal';
const WHOLE = 'Expected a whole number, 0 or above';
const ODD_KEY = 'the API key contains an invalid character';
const needsKey = (action: string, scope: string) =>
  `yardmaster: ${action} requires an API key with ${scope}; set YARDMASTER_API_KEY\n`;

it.each([
  [[], {}, 'Usage: yardmaster'],
  [['wacht', 'job'], {}, "unknown command 'wacht'"],
  [['watch'], {}, 'give either a job ID or --space'],
  [['watch', 'job', '--space', 's'], {}, 'give either a job ID or --space'],
  [['watch', ''], {}, 'the ID is empty'],
  [['watch', 'job', '--tag', 'a'], IN_SPACE, '--tag requires --space'],
  [['watch', '--since', '0'], IN_SPACE, '--since requires a job ID'],
  [['watch', 'job', '--since', '-1'], {}, WHOLE],
  [['watch', 'job', 'job'], {}, 'too many arguments'],
  [['watch', '--space', 's'], {}, needsKey('watching a space', 'jobs:read')],
  [['watch', 'job', '--token', ''], KEY, '--token is empty'],
  [['watch', 'job'], { YARDMASTER_API_KEY: 'ym_“quoted”' }, ODD_KEY],
  [['logs', 'job', '--token', 'ym_se\ncret'], {}, ODD_KEY],
  [['logs', 'job'], { YARDMASTER_API_KEY: 'ym_secret\n' }, ODD_KEY],
  [['watch', 'job'], { YARDMASTER_URL: 'x' }, 'YARDMASTER_URL must start with http:// or https://'],
  [['watch', 'job', '--url', 'yard.example'], {}, '--url must start with http:// or https://'],
  [['watch', 'job', '--url', 'ws://yard.example'], {}, '--url must start with http:// or https://'],
  [['watch', 'job', '--url', 'http://me:secret@yard.example'], {}, '--url must not contain a user name or password\n'],
  [['watch', 'job', '--timeout', '0'], {}, "argument '0' is invalid. Expected a number of seconds, or a duration"],
  [['watch', 'job', '--timeout', 'soon'], {}, "argument 'soon' is invalid"],
  [['watch', 'job', '--timeout', '9e9'], {}, "argument '9e9' is invalid"],
  [['watch', 'job', '--json', '--plain'], {}, '--json and --plain cannot be combined'],
  [['watch', 'job', '--jsno'], {}, "unknown option '--jsno'"],
  [['watch', 'job', '--tokn=secret'], {}, "unknown option '--tokn=…'"],
  [['logs'], KEY, "missing required argument 'jobId'"],
  [['logs', ''], KEY, 'the ID is empty'],
  [['logs', 'job', 'job'], KEY, 'too many arguments'],
  [['logs', 'job', '--level', 'loud'], KEY, LEVELS],
  [['logs', 'job', '--level', 'notice'], KEY, LEVELS],
  [['logs', 'job', '--level', 'warn,'], KEY, LEVELS],
  [['logs', 'job', '--level', ''], KEY, LEVELS],
  [['logs', 'job', '--level', 'info', '--level', 'loud'], KEY, LEVELS],
  [['logs', 'job', '--level'], KEY, "option '--level <levels>' argument missing"],
  [['logs', 'job', '--tail', '-1'], KEY, WHOLE],
  [['logs', 'job', '--tail', '1.5'], KEY, WHOLE],
  [['logs', 'job', '--tail', '1e3'], KEY, WHOLE],
  [['logs', 'job', '--tail', ''], KEY, WHOLE],
  [['logs', 'job', '--tail', '9007199254740993'], KEY, WHOLE],
  [['logs', 'job', '--grep', ''], KEY, '--grep is empty'],
  [['logs', 'job', '--json', '--plain'], KEY, '--json and --plain cannot be combined'],
  [['logs', 'job', '--space', 's'], KEY, "unknown option '--space'"],
  [['logs', 'job', '--folow'], KEY, "unknown option '--folow'\n(Did you mean --follow?)"],
  [['logs', 'job', '--follow'], {}, needsKey('reading logs', 'jobs:read')],
  [['logs', 'job'], { YARDMASTER_API_KEY: '' }, needsKey('reading logs', 'jobs:read')],
  [['callback-secret'], KEY, 'no space given; pass it as an argument or set YARDMASTER_SPACE'],
  [['callback-secret', ''], KEY, 'the ID is empty'],
  [['callback-secret', 's', 's'], KEY, 'too many arguments'],
  [['callback-secret', 's', '--json'], KEY, "unknown option '--json'"],
  [['callback-secret', 's'], {}, needsKey('reading callback secrets', 'keys:manage')],
  [['callback-secret', 's'], { YARDMASTER_API_KEY: 'ym_secret\n' }, ODD_KEY],
  [['create'], IN_SPACE, "missing required argument 'name'"],
  [['create', 'a'], KEY, 'no space given; pass --space or set YARDMASTER_SPACE'],
  [['create', 'a', '--space', ''], KEY, '--space is empty'],
  [['create', 'a'], { YARDMASTER_SPACE: 's' }, needsKey('creating a job', 'jobs:create')],
  [['create', 'a', '{', '--space', 's'], KEY, 'payload is not JSON: unexpected end of input\n'],
  [['create', 'a', '--at', 'tomorrow'], IN_SPACE, 'Expected ISO 8601 with a time zone.\n'],
  [['create', 'a', '--max-retries', 'x'], IN_SPACE, "option '--max-retries <count>' argument 'x' is invalid"],
  [['create', 'a', '--max-retrys', '1'], IN_SPACE, "unknown option '--max-retrys'\n(Did you mean --max-retries?)"],
  [['create', 'a', '--delay', '-1'], IN_SPACE, 'Expected a number of seconds, or a duration such as'],
  [['create', 'a', '--priority', '1.5'], IN_SPACE, 'Expected a whole number'],
  [['create', 'a', '--retry', 'soon'], IN_SPACE, 'Expected a number of seconds, or JSON'],
  [['create', 'a', '--unique', ',ended'], IN_SPACE, 'Expected key['],
  [['create', 'a', '--unique', 'k,expired,return,x'], IN_SPACE, WHOLE],
  [['create', 'a', '--callback-header', 'ym_x'], IN_SPACE, '--callback-header must be "name: value"'],
  [['create', 'a', '--wait', '0'], IN_SPACE, 'Expected a number of seconds, or a duration such as'],
  [['jobs', '--status', 'ded'], IN_SPACE, 'Allowed choices are scheduled, pending'],
  [['jobs', '--after', 'tomorrow'], IN_SPACE, 'Expected ISO 8601 with a time zone, or how long ago, such as 2h.\n'],
  [['jobs', '--before', '2026-08-01'], IN_SPACE, 'Expected ISO 8601 with a time zone, or how long ago'],
  [['jobs', '--output', 'xml'], IN_SPACE, 'Allowed choices are wide, json, yaml, csv'],
  [['jobs', '--json', '-o', 'csv'], IN_SPACE, '--json and --output cannot be combined'],
  [['jobs', '--limit', '0'], IN_SPACE, 'Expected a whole number from 1 to 10000'],
  [
    ['stats', '--history', 'hours', '--from', 'yesterday'],
    IN_SPACE,
    'Expected ISO 8601 with a time zone, or how long ago',
  ],
  [['get', ''], KEY, 'the ID is empty'],
  [['open', ''], {}, 'the ID is empty'],
  [['open', 'job', '--space', 's'], {}, 'give either a job ID or --space'],
  [['kill', 'job'], {}, needsKey('killing a job', 'jobs:kill')],
  [['requeue', 'job', '--delay', 'x'], KEY, 'Expected a number of seconds'],
  [['copy', 'job', '{'], KEY, 'payload is not JSON'],
  [['operations', 'start', 'requeue'], IN_SPACE, "required option '--status <status>' not specified"],
  [
    ['operations', 'start', 'retry', '--status', 'dead'],
    IN_SPACE,
    'Allowed choices are requeue, kill, delete, reschedule',
  ],
  [
    ['operations', 'start', 'kill', '--status', 'pending', '--created-after', 'today'],
    IN_SPACE,
    'Expected ISO 8601 with a time zone, or how long ago',
  ],
  [['operations', 'get', ''], KEY, 'the ID is empty'],
  [['schedules', 'put', 'nightly'], IN_SPACE, "missing required argument 'name'"],
  [['schedules', 'put', 'nightly', 'report', '--delay', '5'], IN_SPACE, "unknown option '--delay'"],
  [['schedules', 'put', 'nightly', 'report', '--overlap', 'no'], IN_SPACE, 'Allowed choices are skip, allow, replace'],
  [['schedules', 'get', ''], IN_SPACE, 'the ID is empty'],
  [['schedules', 'get', 'nightly'], KEY, 'no space given; pass --space or set YARDMASTER_SPACE'],
  [['schedules', 'run', 'nightly'], {}, needsKey('running a schedule', 'schedules:manage')],
  [['delete', ''], KEY, 'the ID is empty'],
  [['delete', 'job'], {}, needsKey('deleting a job', 'jobs:manage')],
  [['settings', 's', '--set', 'maxPending'], KEY, '--set must be name=value'],
  [['settings', 's', '--set', 'maxPending=x'], KEY, 'the value of maxPending is not JSON'],
  [['settings', ''], KEY, 'the ID is empty'],
  [['pause'], KEY, 'no space given; pass it as an argument'],
  [['pause', 's'], {}, needsKey('pausing a space', 'spaces:manage')],
  [['release', 'job', '--delay', 'x'], KEY, 'Expected a number of seconds'],
  [['work', '--name', 'a'], IN_SPACE, "required option '--exec <program>' not specified"],
  [['work', '--exec', ''], IN_SPACE, '--exec is empty'],
  [['work', '--exec', 'x', '--concurrency', '0'], IN_SPACE, 'Expected a whole number from 1 to 1000'],
  [['keys', 'create'], KEY, "required option '--scope <scopes>' not specified"],
  [['keys', 'create', '--scope', 'jobs:read', '--expires', 'soon'], KEY, 'Expected ISO 8601 with a time zone'],
  [['keys', 'create', '--scope', 'jobs:read', '--limit', '0'], KEY, 'Expected a number above 0'],
  [['keys', 'create', '--scope', 'jobs:read', '--burst', '5'], KEY, '--burst requires --limit'],
  [['keys', 'rotate', ''], KEY, 'the ID is empty'],
  [['keys', 'rotate', 'id'], {}, needsKey('rotating a key', 'keys:manage')],
  [['audit'], {}, needsKey('reading the audit log', 'keys:manage')],
  [['stream-token'], IN_SPACE, "required option '--scope <scope>' not specified"],
  [['stream-token', '--scope', 'jobs:write'], IN_SPACE, 'Allowed choices are jobs:read, jobs:read:progress'],
  [['stream-token', '--scope', 'jobs:read'], KEY, 'no streams given; pass --job, --tag or --space'],
  [
    ['stream-token', '--scope', 'jobs:read', '--job', 'a', '--tag', 'b'],
    KEY,
    '--job, --tag and --space cannot be combined',
  ],
  [['stream-token', '--scope', 'jobs:read'], {}, 'creating a stream token requires an API key'],
  [['keys', 'lst'], KEY, "unknown command 'lst'\n(Did you mean list?)"],
  [['keys', 'revoke', 'id'], {}, needsKey('revoking a key', 'keys:manage')],
  [['completion', 'csh'], {}, 'Allowed choices are bash, zsh, fish'],
  [['fsck', '--json', '--plain'], {}, '--json and --plain cannot be combined'],
  [['fsck', '--repiar'], {}, "unknown option '--repiar'"],
  [['fsck', 'job'], {}, 'too many arguments'],
  [['fsck', 'show'], {}, "missing required argument 'jobId'"],
  [['fsck', 'show', ''], {}, 'the ID is empty'],
  [['fsck', 'show', 'job', '--repair'], {}, '--repair and show cannot be combined'],
  [['fsck', '--repair', 'show', 'job'], {}, '--repair and show cannot be combined'],
] as [string[], Env, string][])(
  'refuses the arguments %j with exit code 2 and the reason, with the variables %j',
  async (args, env, sentence) => {
    const { code, err, request } = await run(args, env);
    expect([code, request]).toEqual([2, null]);
    expect(err).toContain(sentence);
    // Neither a key nor a password is quoted.
    expect(err).not.toMatch(/ym_|[:=]secret|\ncret|quoted/);
  },
);

/** Return the packages that a source imports statically, directly or through other sources. */
function packagesOf(file: URL, visited = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (visited.has(file.href)) return packages;
  visited.add(file.href);
  // `import type` is not compiled.
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/^(?:im|ex)port (?!type )[^;]*?from '(.+?)';/gm)) {
    if (!path.startsWith('.')) packages.add(path);
    else for (const name of packagesOf(new URL(path.replace(/js$/, 'ts'), file), visited)) packages.add(name);
  }
  return packages;
}

it('starts without loading the store, which only fsck needs', () => {
  const packages = packagesOf(new URL('../../apps/cli/src/main.ts', import.meta.url));
  expect(packages).toContain('@yardmaster/sdk');
  expect(packages).not.toContain('@yardmaster/fsck');
});

it('docs/cli shows the current options, exit codes and faults', () => {
  const script = fileURLToPath(new URL('../../scripts/cli/pages.mjs', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

it('yardmaster --version prints the version', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../apps/cli/package.json', import.meta.url), 'utf8'));
  expect(await run(['--version'])).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
});
