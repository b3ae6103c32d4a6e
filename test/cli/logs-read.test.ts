import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { entry, pageOf, serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { append, asAdmin, infos, isFollowed, jobWith, logs, logsHere, numbered, readHere } from './logs.js';
import { withProxy } from './proxy.js';
import { BIN, endAll, hasTerminals, runCommand, yardmasterOnTerminal } from './yardmaster.js';

const service = withService();
const proxy = withProxy(service);
beforeEach(() => {
  proxy.requests.length = 0;
});
afterEach(endAll);
afterEach(stopServing);

/** Return the result of `readHere` for a run that printed these lines and nothing else. */
const found = (lines: string[]) => [0, lines, ''];

describe('logs of more entries than a page has', () => {
  let id: string;
  let large: string;
  const LARGE = numbered(540).map((text) => `${text} ${'x'.repeat(16_000)}`);
  beforeAll(async () => {
    id = await jobWith(service, numbered(1_000));
    await append(service, id, numbered(200, 1_001));
    large = (await createJob(service, 'large')).id;
    for (let i = 0; i < 540; i += 60) await append(service, large, LARGE.slice(i, i + 60));
  });

  it('logs prints all entries of several pages, oldest first', async () => {
    expect(await logs(service, id).end()).toEqual(found(infos(numbered(1_200))));
  });

  it.each([1, 120, 500, 501, 1_150, 1_200, 5_000])(
    'logs --tail %i prints the newest entries of several pages',
    async (tail) => {
      expect(await readHere(service, id, '--tail', `${tail}`)).toEqual(found(infos(numbered(1_200).slice(-tail))));
    },
  );

  it('logs prints pages that end early because the size of a response is limited', async () => {
    expect(await readHere(service, large)).toEqual(found(infos(LARGE)));
    expect(await readHere(service, large, '--tail', '530')).toEqual(found(infos(LARGE.slice(10))));
  });

  it('logs exits with 141 and without a message when `head -1` reads its output', async () => {
    // More than fits into a pipe, so that the CLI is still writing when `head` ends.
    const line = `{ "${process.execPath}" "${BIN}" logs ${large}; echo "exit $?" >&2; } | head -1`;
    const run = runCommand('sh', ['-c', line], asAdmin(service));
    expect(await run.end()).toEqual([0, infos(LARGE.slice(0, 1)), 'exit 141\n']);
  });
});

it('logs requests no more pages while its output is not read', async () => {
  const job = (await createJob(service, 'large')).id;
  const all = numbered(1_500).map((name) => `${name} ${'x'.repeat(2_000)}`);
  for (let i = 0; i < all.length; i += 300) await append(service, job, all.slice(i, i + 300));
  const stuck = logs(proxy, job);
  stuck.child.stdout?.pause();
  await until(() => proxy.requests.length > 0);
  // Another run, whose reader takes all, reads three pages in the meantime.
  expect(await logs(proxy, job).exit()).toBe(0);
  expect(proxy.requests).toEqual([0, 0, 500, 1_000].map((after) => `?limit=500&after=${after}`));
  stuck.child.stdout?.resume();
  expect(await stuck.end()).toEqual([0, infos(all), '']);
});

it.each([
  ['pending', []],
  ['completed', ['--tail', '0']],
  ['dead', ['--tail', '5']],
  ['killed', []],
] as const)(
  'logs prints nothing and exits with 0 for a job that is %s and has no logs, with %j',
  async (status, flags) => {
    expect(await readHere(service, await jobIn(service, status, 'empty'), ...flags)).toEqual(found([]));
  },
);

describe('logs with filters', () => {
  it.each([
    ['warn', ['warn  m']],
    ['fatal,trace,debug,fatal', ['trace m', 'debug m', 'fatal m']],
    ['error,info', ['info  m', 'error m']],
  ])('logs --level prints entries of the levels %s and no others', async (levels, lines) => {
    const entries = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'].map((level) => ({ level, message: 'm' }));
    expect(await readHere(service, await jobWith(service, entries), '--level', levels)).toEqual(found(lines));
  });

  const MESSAGES = [
    'Disk full on /var',
    'full disk',
    'say "disk full" now',
    'disk  full',
    'cost: $5.00 (a+b)*',
    'cost: $5x00 aab',
    'Größe ΣΊΣΥΦΟΣ',
    'C:\\temp',
    '100%, a&b=c#d',
  ];
  let id: string;
  beforeAll(async () => {
    id = await jobWith(service, MESSAGES);
  });

  it.each([
    ['a phrase, not its words apart', 'disk full', [0, 2]],
    ['upper and lower case alike', 'DISK FULL', [0, 2]],
    ['upper and lower case alike beyond ASCII', 'grösse σίσυφος', [6]],
    ['a part of a word', 'ull', [0, 1, 2, 3]],
    ['a phrase with a quote', 'say "disk', [2]],
    ['a phrase that ends with a quote', 'full"', [2]],
    ['a quote alone', '"', [2]],
    ['no words on other sides of a quote', 'disk" full', []],
    ['blanks at its ends', ' full ', [0]],
    ['two blanks alone', '  ', [3]],
    ['characters that have a meaning in patterns', '5.00 (a+b)*', [4]],
    ['a backslash', 'c:\\T', [7]],
    ['characters that have a meaning in addresses', '%, a&b=c#d', [8]],
    ['nothing for a missing text', 'absent', []],
  ])('logs --grep finds %s', async (_, grep, places) => {
    const lines = infos(MESSAGES.filter((_message, i) => places.includes(i)));
    expect(await readHere(service, id, '--grep', grep)).toEqual(found(lines));
  });

  it('logs --grep searches only the messages of entries', async () => {
    const job = await jobWith(service, [{ message: 'a', source: 'needle', metadata: { needle: 'needle' } }, 'needle']);
    expect(await readHere(service, job, '--grep', 'needle')).toEqual(found(['info  needle']));
  });

  it('logs --grep finds a text that is longer and has more quotes than a query can have', async () => {
    const long = `${'é🚂"'.repeat(200)}end`;
    const job = await jobWith(service, [long, long.slice(0, -1)]);
    expect(await readHere(service, job, '--grep', long)).toEqual(found([`info  ${long}`]));
  });

  it('logs --grep --tail finds older entries if newer ones contain the words but not the phrase', async () => {
    const job = await jobWith(service, ['disk "full" 1', 'disk "full" 2', 'full "disk', '" disk full']);
    expect(await readHere(service, job, '--grep', 'disk "full', '--tail', '1')).toEqual(found(['info  disk "full" 2']));
  });

  it('logs --grep requests whole pages when entries that the server finds may not contain the phrase', async () => {
    const job = await jobWith(service, ['say "disk full"', ...Array(400).fill('disk full, "no"')]);
    expect(await readHere(proxy, job, '--grep', '"disk', '--tail', '1')).toEqual(found(['info  say "disk full"']));
    expect(proxy.requests.length).toBeLessThan(5);
  });

  describe('on many pages', () => {
    /** Every tenth entry is a warning, and every hundredth is called a round number. */
    const entries = numbered(1_000).map((text, i) => {
      const message = (i + 1) % 100 === 0 ? `${text}, "round" number` : text;
      return { level: (i + 1) % 10 === 0 ? 'warn' : 'info', message };
    });
    const rounds = [...Array(10).keys()].map((i) => `warn  entry ${i + 1}00, "round" number`);
    const all = [...rounds, ...rounds];
    let job: string;
    beforeAll(async () => {
      job = await jobWith(service, entries);
      await append(service, job, entries);
    });

    it.each([
      ['--level warn --level error', all],
      ['--level warn,error --tail 600', all],
      ['--level warn,error --tail 13', all.slice(-13)],
      ['--level warn,error --tail 1', all.slice(-1)],
      ['--level info', []],
    ])('logs prints the entries that match all filters across many pages: %s --grep …', async (flags, lines) => {
      expect(await readHere(service, job, ...flags.split(' '), '--grep', 'ROUND" n')).toEqual(found(lines));
    });
  });
});

describe('logs in which newer entries have replaced older ones', () => {
  const small = withService({ LOGS_PER_JOB: '10' });
  const lastTen = infos(numbered(10, 16));

  it.each([
    [[], lastTen, 'entries 1 to 15 were removed before they could be read\n'],
    [['--level', 'info'], lastTen, ''],
    [['--grep', 'entry 2'], lastTen.slice(-6), ''],
    [['--tail', '3'], lastTen.slice(-3), ''],
    [['--tail', '50'], lastTen, ''],
    [['--tail', '0'], [], ''],
  ])('logs reports removed entries unless only some entries were requested: %j', async (flags, messages, err) => {
    expect(await readHere(small, await jobWith(small, numbered(25)), ...flags)).toEqual([0, messages, err]);
  });

  it.each([
    [[], 'entries 4 to 993 were removed before they could be read\n'],
    [['--tail', '5'], 'entries 4 to 993 were removed before they could be read\n'],
    [['--level', 'info'], ''],
    [['--grep', 'entry'], ''],
  ])('logs reports entries that are replaced before they can be followed, with %j', async (flags, err) => {
    const id = await jobWith(small, numbered(3));
    const run = logsHere(small, [id, '--follow', ...flags]);
    await run.shows('entry 3');
    await append(small, id, numbered(1_000, 4));
    await run.shows('entry 1003\n');
    await step(small, id, 'kill');
    expect(await run.end()).toEqual([4, infos([...numbered(3), ...numbered(10, 994)]), err]);
  });
});

describe('printed logs', () => {
  // A color, a title, the clipboard, CSI in one character, a carriage return, a backspace, a turned direction.
  const evil = '\u001b[31mred\u001b]0;owned\u0007\u001b]52;c;cm0=\u001b\\\u009b2J\rforged\b\u202egnp\u2028.\u0000';
  const shown = 'red forged\ufffdgnp .\ufffd';
  const evilEntry = { message: `m ${evil}`, source: `s ${evil}`, metadata: { [`k ${evil}`]: [`v ${evil}`] } };
  const unsafe = /(?!\n)[\p{Cc}\p{Zl}\u202e]/u;

  it('logs prints one line for each entry: level, source unless it is worker, message, metadata', async () => {
    const rows: [entry: unknown, line: unknown][] = [
      ['hello', 'info  hello'],
      [{ message: 'm', source: 'disk' }, 'info  disk: m'],
      [{ message: 'm', source: 'worker' }, 'info  m'],
      [{ message: 'm', metadata: { a: '/var', b: [92, null] } }, 'info  m {"a":"/var","b":[92,null]}'],
      [{ message: 'm', metadata: {} }, 'info  m'],
      [{ message: 'm', source: 's', metadata: { a: 1 } }, 'info  s: m {"a":1}'],
      ['', 'info'],
      [{ message: '', metadata: { a: {} } }, 'info  {"a":{}}'],
      ['Error: no\n  at a\r\n\tat b', 'info  Error: no   at a at b'],
      ['x'.repeat(10_000), `info  ${'x'.repeat(10_000)}`],
      ['Größe 日本語 👩‍👩‍👧', 'info  Größe 日本語 👩‍👩‍👧'],
      [evilEntry, expect.stringContaining(`info  s ${shown}: m ${shown} {"k `)],
    ];
    const entries = rows.map(([entry]) => entry);
    const run = logsHere(service, [await jobWith(service, entries)]);
    expect(await run.end()).toEqual([0, rows.map(([, line]) => line), '']);
    expect(run.out()).not.toMatch(unsafe);
  });

  it('logs --json prints each entry as the API sends it on one line, with unsafe characters escaped', async () => {
    const metadata = JSON.parse('{"z":1,"a":[{}],"__proto__":{"x":null},"n":1.5e300}');
    const id = await jobWith(service, ['one', { message: 'a\nb', level: 'fatal', source: 's', metadata }, evilEntry]);
    const run = logsHere(service, [id, '--json']);
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    const texts = run.out().trimEnd().split('\n');
    const { body } = await service.call('GET', `/jobs/${id}/logs`);
    expect(JSON.stringify(texts.map((text) => JSON.parse(text)))).toBe(JSON.stringify(body.logs));
    expect(run.out()).not.toMatch(unsafe);
  });
});

(hasTerminals ? describe : describe.skip)('logs on a terminal', () => {
  const timestamp = '2026-01-31T09:30:01.768Z';
  const LONG = 'wide '.repeat(40).trim();
  const ENTRIES = [
    { level: 'trace', message: 'one', timestamp },
    { level: 'debug', message: 'two', timestamp },
    { level: 'info', message: LONG, timestamp },
    { level: 'warn', message: 'three', source: 'disk', metadata: { used: 92 }, timestamp },
    { level: 'error', message: '\u001b[2Jfour\r\n\u009b31m', timestamp },
    { level: 'fatal', message: '', timestamp },
  ];
  let id: string;
  beforeAll(async () => {
    id = await jobWith(service, ENTRIES);
  });

  /** Run the command on a terminal in a time zone two hours ahead of UTC. */
  const onTerminal = (args: string, env: Record<string, string> = {}) =>
    yardmasterOnTerminal(`logs ${args}`, { ...asAdmin(service), TZ: 'Etc/GMT-2', ...env });
  const dim = (text: string) => `\u001b[2m${text}\u001b[0m`;
  const red = (text: string) => `\u001b[31m${text}\u001b[0m`;
  const yellow = (text: string) => `\u001b[33m${text}\u001b[0m`;
  const bold = (text: string) => `\u001b[1m${text}\u001b[0m`;

  it('logs on a terminal shows the local time and a color for each level, and truncates nothing', async () => {
    const run = onTerminal(id);
    expect(await run.exit()).toBe(0);
    const time = dim('11:30:01');
    expect(run.out().split('\r\n')).toEqual([
      `${time} ${dim('trace')} one`,
      `${time} ${dim('debug')} two`,
      `${time} info  ${LONG}`,
      `${time} ${yellow('warn ')} ${dim('disk:')} three ${dim('{"used":92}')}`,
      `${time} ${red('error')} four`,
      `${time} ${bold(red('fatal'))}`,
      '',
    ]);
  });

  it('logs on a terminal prints plain lines if NO_COLOR is set', async () => {
    const run = onTerminal(id, { NO_COLOR: '1' });
    expect(await run.exit()).toBe(0);
    const lines = ['trace one', 'debug two', `info  ${LONG}`, 'warn  disk: three {"used":92}', 'error four', 'fatal'];
    expect(run.out()).toBe(lines.map((line) => `${timestamp} ${line}\r\n`).join(''));
  });

  it('logs --json on a terminal prints JSON without colors', async () => {
    const run = onTerminal(`${id} --json --tail 1`);
    expect(await run.exit()).toBe(0);
    expect(JSON.parse(run.out())).toMatchObject({ seq: 6, level: 'fatal' });
  });

  it('logs --follow on a terminal prints in color until Ctrl-C, and exits with 130', async () => {
    const job = await jobWith(service, ['before']);
    const run = onTerminal(`${job} --follow`);
    await run.shows('before\r\n');
    await append(service, job, [{ level: 'error', message: 'later' }]);
    await run.shows(`${red('error')} later\r\n`);
    run.child.stdin?.write('\u0003');
    expect(await run.exit()).toBe(130);
    expect(run.out().endsWith('later\r\n^C\r\n')).toBe(true);
  });
});

describe('logs that the service refuses', () => {
  /** ID of a completed job with two entries. */
  let id: string;
  beforeAll(async () => {
    id = await jobIn(service, 'completed', 'own');
    await append(service, id, numbered(2));
  });

  const readWith = (key: string, args: string[]) =>
    yardmasterHere(['logs', ...args], { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: key });

  it.each([[[]], [['--follow']], [['--tail', '0']]])(
    'logs exits with 1 and the reason when logs are refused: %j',
    async (flags) => {
      const { key: progressOnly } = await service.key(['jobs:read:progress', 'jobs:event', 'jobs:create']);
      const { key: keyOfOther } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
      const cases = [
        ['nope', ADMIN_KEY, 'Job not found'],
        [id, 'ym_wrong', 'A valid API key is required'],
        [id, progressOnly, 'Missing required scope: jobs:read'],
        [id, keyOfOther, 'The API key is bound to another space'],
      ] as const;
      for (const [jobId, key, sentence] of cases) {
        expect(await readWith(key, [jobId, ...flags]).end()).toEqual([1, [], `yardmaster: ${sentence}\n`]);
      }
    },
  );

  it('logs works with a key bound to the space that has only jobs:read', async () => {
    const { key } = await service.key(['jobs:read'], { spaceId: 'own' });
    expect(await readWith(key, [id, '--follow']).end()).toEqual([0, infos(numbered(2)), '']);
  });

  it('logs --follow exits with 1 when the key is revoked', async () => {
    const job = await jobIn(service, 'running', 'revoked');
    const { id: keyId, key } = await service.key(['jobs:read']);
    await append(service, job, numbered(2));
    const run = readWith(key, [job, '--follow']);
    await run.shows('entry 2\n');
    await isFollowed(service, job);
    await service.call('DELETE', `/keys/${keyId}`);
    const err = /(^|\n)yardmaster: A valid API key is required\n$/;
    expect(await run.end()).toEqual([1, infos(numbered(2)), expect.stringMatching(err)]);
  });
});

describe('logs of a service with unusual responses', () => {
  it('logs retries after a temporary failure, and reports the outage once', async () => {
    const three = [entry(1), entry(2), entry(3)];
    const { url } = await serve((_request, response, nth) => {
      if (nth === 0) response.writeHead(503).end('{"error":"Storage is unavailable","code":"UNAVAILABLE"}');
      else if (nth === 1) response.writeHead(429).end('{"error":"Slow down","code":"RATE_LIMITED"}');
      else if (nth === 2) {
        // The connection breaks in the middle of the response.
        response.writeHead(200, { 'content-length': pageOf(three).length }).write(pageOf(three).slice(0, 200));
        setImmediate(() => response.destroy());
      } else response.end(pageOf(three));
    });
    const err = `cannot connect to ${url} (Storage is unavailable), reconnecting\n`;
    expect(await readHere({ url }, 'job')).toEqual([0, infos(numbered(3)), err]);
  });

  it('logs does not retry before the service allows it, and gives up after --timeout', async () => {
    const fake = await serve((_request, response) => response.writeHead(503, { 'retry-after': '3600' }).end());
    // Without Retry-After, the CLI would retry within half a second.
    const err = /^cannot connect to \S+ \(Status 503 without JSON.*\), .*\nyardmaster: timed out after 1 s\n$/;
    expect(await readHere(fake, 'job', '--timeout', '1')).toEqual([124, [], expect.stringMatching(err)]);
    expect(fake.requests).toBe(1);
  });

  it('logs gives up after --timeout while no response arrives', async () => {
    const fake = await serve(() => undefined);
    const err = 'yardmaster: timed out after 0.5 s\n';
    expect(await readHere(fake, 'job', '--timeout', '0.5')).toEqual([124, [], err]);
  });

  const otherThanService = (status: number) => `Status ${status} without JSON of the service; check the URL`;
  const NO_PAGE = 'the response is not a page of logs';
  const SAME_PAGE = '{"logs":[],"cursor":{"mode":"after","oldestSeq":0,"newestSeq":0,"hasMore":true}}';

  it.each([
    ['the page of a proxy', 200, '<html>Welcome</html>', {}, otherThanService(200)],
    ['other JSON', 200, '{"logs":7}', {}, NO_PAGE],
    ['a page that leads nowhere', 200, SAME_PAGE, {}, 'the service returned the same page of logs twice'],
    ['an error of the service', 500, '{"error":"Unexpected error","code":"INTERNAL"}', {}, 'Unexpected error'],
    ['a bare status', 404, '', {}, otherThanService(404)],
    ['a sentence with escapes', 400, '{"error":"a\\u001b[2J\\nb\\u202e","code":"INVALID_REQUEST"}', {}, 'a b'],
    // Another server must not get the key.
    ['a redirect', 302, '', { location: '/elsewhere' }, otherThanService(302)],
  ])('logs exits with 1 when the response is %s', async (_, status, body, headers, sentence) => {
    const fake = await serve((_request, response) => response.writeHead(status, headers).end(body));
    expect(await readHere(fake, 'job')).toEqual([1, [], `yardmaster: ${sentence}\n`]);
    expect(fake.requests).toBe(1);
  });

  it('logs retries when a server switches protocols', async () => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const run = logs({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, 'job');
    await until(() => run.err().includes('the server does not speak HTTP'));
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('logs never prints the API key, even if the server quotes the request', async () => {
    const key = 'ym_id_se/cr=et!';
    const { url } = await serve(({ url: path, headers }, response) => {
      const error = `${path} ${headers['x-api-key']} ${encodeURIComponent(key)}`;
      response.writeHead(404).end(JSON.stringify({ error, code: 'NOT_FOUND' }));
    });
    const run = yardmasterHere(['logs', 'a/b'], { YARDMASTER_URL: `${url}/base/`, YARDMASTER_API_KEY: key });
    const error = 'yardmaster: /base/api/v1/jobs/a%2Fb/logs?limit=500&after=0 … …\n';
    expect(await run.end()).toEqual([1, [], error]);
  });
});
