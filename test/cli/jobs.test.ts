import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { historyOf, read } from './worker.js';
import { BIN, endAll, runCommand, yardmaster } from './yardmaster.js';

const service = withService();
afterEach(endAll);

/** Run a command in this process, in a space and with the admin key. */
const here = (spaceId: string, ...args: string[]) =>
  yardmasterHere(args, { ...asAdmin(service), YARDMASTER_SPACE: spaceId });

const jobsOf = async (spaceId: string) => (await service.call('GET', `/spaces/${spaceId}/jobs`)).body;

it('creates a job with all options of create, and prints its ID', async () => {
  const run = here(
    'options',
    ...['create', 'resize', '{"image":"a.png"}', '--delay', '60', '--max-retries', '7', '--timeout', '20'],
    ...['--retry', '{"delaySeconds":5,"factor":2}', '--priority', '-30', '--max-run', '600'],
    ...['--start-within', '900', '--unique', 'a,expired,reject,120', '--callback-url', 'http://127.0.0.1:9/x'],
    ...['--tag', 'eu', '--tag', 'big'],
    ...['--callback-header', 'x-shop: 7: b', '--callback-on', 'completed, killed'],
  );
  const [code, [id = ''], err] = await run.end();
  expect([code, err]).toEqual([0, '']);
  expect(await read(service, id)).toMatchObject({
    name: 'resize',
    status: 'scheduled',
    payload: { image: 'a.png' },
    maxRetries: 7,
    timeoutSeconds: 20,
    retry: { delaySeconds: 5, factor: 2 },
    priority: -30,
    maxRunSeconds: 600,
    startWithinSeconds: 900,
    unique: { key: 'a', until: 'expired', onConflict: 'reject', ttlSeconds: 120 },
    tags: ['eu', 'big'],
    callbackUrl: 'http://127.0.0.1:9/x',
    callbackHeaders: { 'x-shop': '7: b' },
    callbackOn: ['completed', 'killed'],
  });
});

it.each([
  [['--retry', '3'], { retry: { delaySeconds: 3 } }],
  [['--retry', '[0, 30]'], { retry: { delaySeconds: [0, 30] } }],
  [['--unique', 'k'], { unique: { key: 'k' } }],
  [['--unique', 'k1,started'], { unique: { key: 'k1', until: 'started' } }],
  [['--unique', 'k2,,replace'], { unique: { key: 'k2', onConflict: 'replace' } }],
  [['--unique', '{"key":"a,b"}'], { unique: { key: 'a,b' } }],
  [['--at', '2096-02-29T12:00:00Z'], { scheduledFor: '2096-02-29T12:00:00.000Z' }],
])('create accepts the options %j', async (args, fields) => {
  const run = here('jobs-short', 'create', 'resize', ...args, '--json');
  expect(await run.exit()).toBe(0);
  expect(JSON.parse(run.out())).toMatchObject(fields);
});

it('reads the payload of create from standard input', async () => {
  const run = yardmaster(['create', 'resize', '-', '--space', 'stdin', '--json'], asAdmin(service));
  run.child.stdin?.end('{"from": "stdin"}\n');
  expect(await run.exit()).toBe(0);
  expect(JSON.parse(run.out())).toMatchObject({ payload: { from: 'stdin' }, spaceId: 'stdin' });
});

it('creates one job per idempotency key', async () => {
  const ids = await Promise.all([1, 2].map(() => here('jobs-once', 'create', 'a', '--idempotency-key', 'k').end()));
  expect(ids[0]).toEqual(ids[1]);
  expect(await jobsOf('jobs-once')).toHaveLength(1);
});

it('creates two jobs when create runs twice without an idempotency key', async () => {
  for (let i = 0; i < 2; i++) expect(await here('jobs-two', 'create', 'a').exit()).toBe(0);
  expect(await jobsOf('jobs-two')).toHaveLength(2);
});

it.each([
  ['completed', 'complete', { result: { width: 320 } }, [0, ['{"width":320}']], ''],
  ['dead', 'fail', { error: 'disk\nfull' }, [3, []], 'is dead: disk full'],
  ['killed', 'kill', { reason: 'enough' }, [4, []], 'is killed: enough'],
] as const)(
  'create --wait waits until the job is %s, and exits with the matching code',
  async (_, verb, body, end, sentence) => {
    const spaceId = `wait-${verb}`;
    const run = here(spaceId, 'create', 'a', '--wait', '600', '--max-retries', '0');
    let claimed: { id: string }[] = [];
    while (claimed.length === 0) {
      claimed = (await service.call('POST', `/spaces/${spaceId}/jobs/poll`, { body: { waitSeconds: 20 } })).body.jobs;
    }
    const [{ id }] = claimed as [{ id: string }];
    await step(service, id, 'ack');
    await step(service, id, verb, body);
    expect(await run.end()).toEqual([...end, sentence && `yardmaster: job ${id} ${sentence}\n`]);
  },
);

it('create --wait exits with 124 and the job ID when the job has not ended in time', async () => {
  const [code, lines, err] = await here('jobs-late', 'create', 'a', '--wait', '0.05').end();
  const [{ id }] = await jobsOf('jobs-late');
  expect([code, lines, err]).toEqual([124, [], `yardmaster: job ${id} is still pending after 0.05 s\n`]);
});

it.each([
  [['create', 'a', '[]'], 1, 'yardmaster: payload must be an object\n'],
  [['create', 'a', '{'], 2, 'yardmaster: payload is not JSON: unexpected end of input\n'],
  [['create', 'a', '-'], 2, 'yardmaster: payload is not JSON: unexpected end of input\n'],
  [['create', 'a', '--max-retries', '1000'], 1, 'yardmaster: maxRetries must be an integer between 0 and 100\n'],
  [['create', 'a', '--retry', '{"delay": 3}'], 1, 'yardmaster: unknown field retry.delay\n'],
  [
    ['create', 'a', '--delay', '1', '--at', '2096-01-01T00:00:00Z'],
    2,
    'yardmaster: --delay and --at cannot be combined\n',
  ],
])('refuses the command %j in one line that names the field', async (args, code, err) => {
  const [exit, , text] = await here('jobs-refused', ...args).end();
  expect([exit, text]).toEqual([code, err]);
  expect(await jobsOf('jobs-refused')).toEqual([]);
});

it('lists the newest jobs in a table, and filters them by status and name', async () => {
  const dead = await jobIn(service, 'dead', 'jobs-list', { name: 'crop' });
  const { id: first } = await createJob(service, 'jobs-list', { name: 'crop' });
  const { id: second } = await createJob(service, 'jobs-list', { name: 're\u001b[31msize' });
  const ids = async (...args: string[]) => {
    const [code, lines] = await here('jobs-list', 'jobs', ...args).end();
    return [code, ...lines.slice(1).map((line) => line.split(' ')[0])];
  };
  expect(await ids()).toEqual([0, second, first, dead]);
  expect(await ids('--status', 'dead')).toEqual([0, dead]);
  expect(await ids('--name', 'crop')).toEqual([0, first, dead]);
  expect(await ids('--name', 'crop', '--limit', '1')).toEqual([0, first]);
  expect(await ids('--offset', '2')).toEqual([0, dead]);
  const run = here('jobs-list', 'jobs', '--limit', '1');
  await run.exit();
  expect(run.out()).toMatch(
    /^ID +STATUS +NAME +AGE +ATTEMPT +WORKER +ERROR\n\w+ +pending +resize +\d+s +0\/4 +- +-\n$/,
  );
  const [, lines] = await here('jobs-list', 'jobs', '--json').end();
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([second, first, dead]);
});

it('lists more jobs than the service returns in one page', async () => {
  const body = Array.from({ length: 130 }, (_, i) => ({ name: `n${i % 2}` }));
  await service.call('POST', '/spaces/jobs-pages/jobs', { body });
  const count = async (...args: string[]) => (await here('jobs-pages', 'jobs', ...args).end())[1].length - 1;
  expect(await count()).toBe(50);
  expect(await count('--limit', '1000')).toBe(130);
  expect(await count('--limit', '60', '--name', 'n1')).toBe(60);
  expect(await count('--limit', '110', '--offset', '5')).toBe(110);
  expect(await count('--all')).toBe(130);
  expect(await count('--all', '--name', 'n1', '--name', 'n0', '--order', 'asc')).toBe(130);
  const [, lines] = await here('jobs-pages', 'jobs', '--all', '--json').end();
  expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(130);
});

it('finds jobs by tag, text and time of creation, oldest first', async () => {
  const space = 'jobs-find';
  const { id: first, createdAt } = await createJob(service, space, { tags: ['eu', 'big'], payload: { at: 'Cat' } });
  const second = await jobIn(service, 'killed', space, { tags: ['eu'], payload: { at: 'Dog' } });
  const third = await jobIn(service, 'dead', space);
  const ids = async (...args: string[]) =>
    (await here(space, 'jobs', '--json', ...args).end())[1].map((line) => JSON.parse(line).id);
  expect(await ids('--order', 'asc')).toEqual([first, second, third]);
  expect(await ids('--tag', 'eu')).toEqual([second, first]);
  expect(await ids('--tag', 'eu', '--tag', 'big')).toEqual([first]);
  expect(await ids('--query', 'CAT')).toEqual([first]);
  expect(await ids('--status', 'dead', '--status', 'killed')).toEqual([third, second]);
  expect(await ids('--after', createdAt, '--before', '2999-01-01T00:00:00Z')).toEqual([third, second, first]);
  expect(await ids('--before', createdAt)).toEqual([]);
  expect(await ids('--after', '1h', '--before', '0s')).toEqual([third, second, first]);
});

it.each([
  [['--all', '--limit', '5'], 2, 'yardmaster: --all and --limit cannot be combined\n'],
  [['--query', ''], 1, 'yardmaster: --query must be 1 to 500 characters\n'],
  [['--name', 'a', '--offset', '5'], 1, 'yardmaster: offset cannot be combined with cursor, order or a fi'],
  [['--tag', ''], 1, 'yardmaster: tag must be 1 to 64 characters\n'],
])('refuses the options %j of jobs', async (args, code, err) => {
  const [exit, , text] = await here('jobs-refused', 'jobs', ...args).end();
  expect([exit, text.slice(0, err.length)]).toEqual([code, err]);
});

it('shows a job with its history', async () => {
  const id = await jobIn(service, 'running', 'jobs-get', { name: 'resize', payload: { image: 'a.png' } });
  await step(service, id, 'progress', { percent: 12.9, message: 'Reading' });
  await step(service, id, 'complete', { result: 'ok' });
  const [code, lines, err] = await here('jobs-get', 'get', id).end();
  expect([code, err]).toEqual([0, '']);
  expect(lines).toEqual([
    `id             ${id}`,
    'name           resize',
    'space          jobs-get',
    'status         completed',
    'attempts       1 of 4',
    'progress       12% Reading',
    'payload        {"image":"a.png"}',
    'result         ok',
    'timeout        300 s without a heartbeat',
    'created        T',
    'started        T',
    'updated        T',
    'history',
    '  T created',
    '  T delivered',
    '  T acked',
    '  T progress      12% Reading',
    '  T completed     "ok"',
  ]);
  const [, [json = '']] = await here('jobs-get', 'get', id, '--json').end();
  expect(JSON.parse(json)).toMatchObject({ id, result: 'ok' });
  const [, withoutHistory] = await here('jobs-get', 'get', id, '--no-history').end();
  expect(withoutHistory).toEqual(lines.slice(0, lines.indexOf('history')));
});

it('get exits with 1 for an unknown job', async () => {
  expect(await here('jobs-get', 'get', 'nobody').end()).toEqual([1, [], 'yardmaster: Job not found\n']);
});

it('kills a job with a reason', async () => {
  const { id } = await createJob(service, 'jobs-ends');
  expect(await here('jobs-ends', 'kill', id, '--reason', 'enough').end()).toEqual([0, [`killed ${id}`], '']);
  const { status, events } = await read(service, id);
  expect([status, events.at(-1)?.data]).toEqual(['killed', { reason: 'enough' }]);
});

it('kill, requeue and delete change several jobs, and name those that are refused', async () => {
  const [first, second] = [await createJob(service, 'jobs-several'), await createJob(service, 'jobs-several')];
  const ids = [first.id, 'nobody', second.id];
  for (const [verb, past] of Object.entries({ kill: 'killed', requeue: 'requeued' })) {
    const lines = [`${past} ${first.id}`, `${past} ${second.id}`];
    expect(await here('jobs-several', verb, ...ids).end()).toEqual([1, lines, 'yardmaster: nobody: Job not found\n']);
  }
  for (const { id } of [first, second]) await step(service, id, 'kill');
  const run = runCommand(process.execPath, [BIN, 'delete', '-'], asAdmin(service));
  run.child.stdin?.end(`${first.id}\n\n${second.id}\n`);
  expect(await run.end()).toEqual([0, [`deleted ${first.id}`, `deleted ${second.id}`], '']);
});

it('kill exits with 1 when the job has ended', async () => {
  const id = await jobIn(service, 'completed', 'jobs-ends');
  expect(await here('jobs-ends', 'kill', id).end()).toEqual([1, [], 'yardmaster: Job has already ended\n']);
});

it('releases a running job, with and without a delay', async () => {
  const id = await jobIn(service, 'running', 'jobs-ends');
  expect(await here('jobs-ends', 'release', id, '--reason', 'stops').end()).toEqual([0, [`released ${id}`], '']);
  expect(await read(service, id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
  await step(service, id, 'claim');
  expect(await here('jobs-ends', 'release', id, '--delay', '600').exit()).toBe(0);
  expect(await read(service, id)).toMatchObject({ status: 'scheduled' });
});

it('release does not release a job that another delivery holds', async () => {
  const { id } = await createJob(service, 'jobs-ends');
  const first = await service.call('POST', `/jobs/${id}/claim`);
  await step(service, id, 'release');
  await step(service, id, 'claim');
  const { deliveryToken } = first.body.job;
  await here('jobs-ends', 'release', id, '--delivery-token', deliveryToken).exit();
  expect(historyOf(await read(service, id))).toEqual(['created', 'delivered', 'released', 'delivered']);
  expect(await here('jobs-ends', 'release', id, '--delivery-token', '9.9').exit()).toBe(1);
});

it('requeues a dead job, at once or after a delay', async () => {
  const id = await jobIn(service, 'dead', 'jobs-again');
  expect(await here('jobs-again', 'requeue', id).end()).toEqual([0, [`requeued ${id}`], '']);
  expect(await read(service, id)).toMatchObject({ status: 'pending', attemptNumber: 0 });
  await step(service, id, 'kill');
  expect(await here('jobs-again', 'requeue', id, '--delay', '600').exit()).toBe(0);
  expect(await read(service, id)).toMatchObject({ status: 'scheduled' });
  expect(await here('jobs-again', 'requeue', id).end()).toEqual([
    1,
    [],
    'yardmaster: Job is neither dead nor killed\n',
  ]);
});

it('copy prints the ID of the new job', async () => {
  const id = await jobIn(service, 'completed', 'jobs-again', { payload: { image: 'a.png' } });
  const [code, [same = '']] = await here('jobs-again', 'copy', id).end();
  expect([code, await read(service, same)]).toMatchObject([0, { copyOf: id, payload: { image: 'a.png' } }]);
  const [, [other = '']] = await here('jobs-again', 'copy', id, '{"image":"b.png"}').end();
  expect(await read(service, other)).toMatchObject({ copyOf: id, payload: { image: 'b.png' } });
});

it('deletes only a job that has ended', async () => {
  const id = await jobIn(service, 'completed', 'jobs-again');
  expect(await here('jobs-again', 'delete', id).end()).toEqual([0, [`deleted ${id}`], '']);
  expect((await service.call('GET', `/jobs/${id}`)).status).toBe(404);
  const waiting = await jobIn(service, 'pending', 'jobs-again');
  expect(await here('jobs-again', 'delete', waiting).end()).toEqual([1, [], 'yardmaster: Job has not ended\n']);
});

it('counts the jobs of a space by status and by name', async () => {
  await jobIn(service, 'dead', 'jobs-count', { name: 'crop' });
  for (const name of ['resize', 'resize']) await createJob(service, 'jobs-count', { name });
  const [code, lines] = await here('jobs-count', 'stats').end();
  const [counts = '', , ...table] = lines;
  expect(code).toBe(0);
  expect(counts).toMatch(
    /^pending 2, delivered 0, running 0, completed 0, dead 1, killed 0, total 3, oldest pending for \d+s$/,
  );
  expect(table.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
    ['NAME', 'JOBS', 'PENDING'],
    ['resize', '2', '2'],
    ['crop', '1', '0'],
  ]);
  const [, [json = '']] = await here('jobs-count', 'stats', '--name', 'crop', '--json').end();
  expect(JSON.parse(json)).toMatchObject({ names: [{ name: 'crop', total: 1 }] });
});

it('lists the spaces that have jobs', async () => {
  for (const name of ['resize', 'crop']) await createJob(service, 'jobs-spaces', { name });
  const [code, lines] = await here('jobs-spaces', 'spaces').end();
  expect(code).toBe(0);
  expect(lines[0]?.split(/ +/)).toEqual(['SPACE', 'JOBS', 'PENDING', 'RUNNING', 'DEAD', 'OLDEST']);
  expect(lines.filter((line) => line.startsWith('jobs-spaces '))).toEqual([
    expect.stringMatching(/^jobs-spaces +2 +2 +0 +0 +\d+s$/),
  ]);
  const [, all] = await here('jobs-spaces', 'spaces', '--json').end();
  expect(all.map((line) => JSON.parse(line)).find(({ spaceId }) => spaceId === 'jobs-spaces').jobs.total).toBe(2);
  const [, some, err] = await here('jobs-spaces', 'spaces', '--limit', '1', '--json').end();
  expect(some).toHaveLength(1);
  expect(err).toContain('only the first 1 spaces');
});

it('shows the history of a space by minutes and by hours', async () => {
  await jobIn(service, 'completed', 'jobs-history', { name: 'crop' });
  await createJob(service, 'jobs-history', { name: 'resize' });
  const history = (...args: string[]) => here('jobs-history', 'stats', '--history', ...args).end();
  /** Add up the lines of each name: the counts of a process belong to the minute in which it adds them. */
  const sums = async (...args: string[]) => {
    const [, [head = '', ...lines]] = await history(...args);
    expect(head).toMatch(/^FROM +NAME +CREATED +COMPLETED /);
    const made: Record<string, number[]> = {};
    for (const [, name = '', ...counts] of lines.map((line) => line.split(/ +/)))
      made[name] = [0, 1].map((i) => (made[name]?.[i] ?? 0) + Number(counts[i]));
    return made;
  };
  // Each process adds its counts to the history a little later.
  await until(async () => isDeepStrictEqual(await sums('hours'), { crop: [1, 1], resize: [1, 0] }));
  expect(await sums('minutes', '--name', 'crop')).toEqual({ crop: [1, 1] });
  const [, [json = '']] = await history('minutes', '--json');
  expect(JSON.parse(json)).toMatchObject({ spaceId: 'jobs-history', step: 60 });
});

it('jobs exits with 141 when its output is closed', async () => {
  const script = `"${process.execPath}" "$0" jobs --space jobs-count --json --limit 1000 | true; exit \${PIPESTATUS[0]}`;
  const body = Array.from({ length: 200 }, () => ({ name: 'n', payload: { text: 'x'.repeat(2_000) } }));
  await service.call('POST', '/spaces/jobs-count/jobs', { body });
  const run = runCommand('bash', ['-c', script, BIN], asAdmin(service));
  expect(await run.exit()).toBe(141);
});
