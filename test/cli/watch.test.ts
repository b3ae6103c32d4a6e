import { stripVTControlCharacters as uncoloured } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createJob, jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { ENDED, serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { withProxy } from './proxy.js';
import { endAll, hasTerminals, type Run, yardmaster, yardmasterOnTerminal } from './yardmaster.js';

const service = withService();
const proxy = withProxy(service);
beforeEach(() => proxy.restore());
afterEach(endAll);
afterEach(stopServing);

/** Run `watch` as a process, with the admin key. */
const watch = (...args: string[]) => yardmaster(['watch', ...args], asAdmin(service));

/** Run `watch` in this process, with the admin key or the given one; null for no key. */
function watchHere(at: { url: string }, args: string[], key?: string | null): Run {
  const { YARDMASTER_URL, YARDMASTER_API_KEY } = asAdmin(at);
  const token = key === undefined ? YARDMASTER_API_KEY : (key ?? '');
  return yardmasterHere(['watch', ...args], { YARDMASTER_URL, YARDMASTER_API_KEY: token });
}

const NO_KEY = null;

/** A time after that of the other messages of the fake service. */
const LATER = '2026-01-01T00:00:01.000Z';

const REQUEUED = 'requeued      with a fresh set of attempts';

it('watch prints every message as a line, and exits with 0 when the job completes', async () => {
  const { id } = await createJob(service, 'lines', { name: 'resize' });
  const run = watch(id);
  await run.shows('init');

  const subProgress = { decode: { percent: 100 }, scale: { percent: 25, message: 'first pass' } };
  const steps: [verb: string, body?: unknown][] = [
    ['claim'],
    ['ack'],
    ['progress', { percent: 12.9, message: 'Reading\n\u001b[31minput\u001b[0m' }],
    ['progress', { percent: 60, message: 'Resizing', subProgress }],
    ['checkpoint', { page: 7 }],
    ['event', 'half-way'],
    ['logs', ['one', 'two']],
    ['fail', { error: { code: 'EIO' } }],
    ['claim'],
    ['ack'],
    ['complete', { result: { bytes: 51234 } }],
  ];
  for (const [verb, body] of steps) await step(service, id, verb, body);

  expect(await run.exit()).toBe(0);
  expect(run.lines()).toEqual([
    'init          pending',
    'delivered',
    'acked',
    'progress      12% Reading input',
    'progress      60% Resizing (decode 100%, scale 25% first pass)',
    'checkpoint    {"page":7}',
    'event         "half-way"',
    'logs_appended 2 (seq 1 to 2)',
    'retried       attempt 1 failed: {"code":"EIO"}',
    'delivered',
    'acked',
    'completed     {"bytes":51234}',
  ]);
  expect(run.err()).toBe('');
});

it('watch prints when a scheduled job is due, and waits for its end', async () => {
  const { id } = await createJob(service, 'waits', { name: 'resize', delaySeconds: 3_600, unique: { key: 'k' } });
  const create = { name: 'resize', unique: { key: 'k', onConflict: 'replace' } };
  const scheduledFor = '2096-02-29T12:00:00.000Z';
  const run = watch(id);
  await run.shows('init');
  await step(service, id, 'reschedule', { scheduledFor, priority: 60 });
  await service.call('POST', '/spaces/waits/jobs', { body: { ...create, scheduledFor } });
  await service.call('POST', '/spaces/waits/jobs', { body: create });
  await step(service, id, 'reschedule', { scheduledFor });
  await step(service, id, 'reschedule', { delaySeconds: 0 });
  await step(service, id, 'claim');
  await step(service, id, 'release', { delaySeconds: 0.001, reason: 'busy' });
  await run.shows('ready');
  await step(service, id, 'claim');
  await step(service, id, 'ack');
  await step(service, id, 'fail', { error: 'disk full', retryAfterSeconds: 0.001 });
  await until(() => run.lines().filter((line) => line === 'ready').length === 2);
  for (const verb of ['claim', 'ack', 'complete']) await step(service, id, verb);

  expect(await run.exit()).toBe(0);
  expect(run.out()).toContain(`scheduled for ${scheduledFor}, priority 60`);
  expect(run.lines()).toEqual([
    'init          scheduled',
    'rescheduled   scheduled for T, priority 60',
    'replaced      scheduled for T, a new create replaced its payload and options',
    'replaced      a new create replaced its payload and options',
    'rescheduled   scheduled for T',
    'rescheduled   pending now',
    'delivered',
    'released      scheduled for T, busy',
    'ready',
    'delivered',
    'acked',
    'retried       scheduled for T, attempt 1 failed: disk full',
    'ready',
    'delivered',
    'acked',
    'completed',
  ]);
});

it.each([
  ['fail', { error: 'disk full' }, 3, 'dead          disk full'],
  ['kill', { reason: 'enough' }, 4, 'killed        enough'],
] as const)('watch prints the reason of a %s, and exits with its code', async (verb, body, code, line) => {
  const id = await jobIn(service, 'running', 'ends', { maxRetries: 0 });
  const run = watchHere(service, [id]);
  await run.shows('init');
  await step(service, id, verb, body);
  expect(await run.end()).toEqual([code, ['init          running', line], '']);
});

it.each([
  ['completed', undefined, 0, ['init          completed']],
  ['dead', undefined, 3, ['init          dead']],
  ['killed', undefined, 4, ['init          killed']],
  ['completed', NO_KEY, 0, ['init          no progress yet', 'completed']],
] as const)(
  'watch exits immediately for a job that is already %s, with the key %j',
  async (status, key, code, lines) => {
    const run = watchHere(service, [await jobIn(service, status, 'already')], key);
    expect(await run.end()).toEqual([code, lines, '']);
  },
);

it('watch --json prints each message as it arrived', async () => {
  const id = await jobIn(service, 'running', 'json', { name: 'resize' });
  const run = watch(id, '--json');
  await run.shows('init');
  // U+009B starts a terminal sequence, and JSON may contain it unescaped.
  await step(service, id, 'complete', { result: { text: 'a\n\u009b31mb' } });
  expect(await run.exit()).toBe(0);
  const data = { text: 'a\n\u009b31mb' };
  expect(run.lines().map((line) => JSON.parse(line))).toEqual([
    { jobId: id, type: 'init', status: 'running', timestamp: 'T' },
    { jobId: id, jobName: 'resize', type: 'completed', status: 'completed', data, timestamp: 'T' },
  ]);
  expect(run.out()).not.toContain('\u009b');
});

it('watch exits with 124 after --timeout', async () => {
  const run = watchHere(service, [await jobIn(service, 'pending', 'timeout'), '--timeout', '0.5']);
  expect([await run.exit(), run.err()]).toEqual([124, 'yardmaster: timed out after 0.5 s\n']);
});

it('watch --since 0 first shows the whole history, even past an earlier end', async () => {
  const id = await jobIn(service, 'dead', 'since');
  await service.call('POST', `/jobs/${id}/requeue`);
  const run = watchHere(service, [id, '--since', '0']);
  await run.shows('requeued');
  await step(service, id, 'kill');
  const lines = ['delivered', 'acked', 'dead          broken', REQUEUED, 'killed'];
  expect(await run.end()).toEqual([4, ['init          pending', ...lines], '']);
});

it('watch --since shows the last end of a job that has ended twice', async () => {
  const id = await jobIn(service, 'dead', 'since');
  await service.call('POST', `/jobs/${id}/requeue`);
  await step(service, id, 'kill');
  const run = watchHere(service, [id, '--since', '3']);
  const lines = ['init          killed', 'dead          broken', REQUEUED, 'killed'];
  expect(await run.end()).toEqual([4, lines, '']);
});

it('watch --since exits with the code of a job that has no later event', async () => {
  const id = await jobIn(service, 'killed', 'since');
  expect(await watchHere(service, [id, '--since', '2']).end()).toEqual([4, [], '']);
});

it('watch with a stream token shows the job of the token', async () => {
  const id = await jobIn(service, 'running', 'token');
  const { body } = await service.call('POST', '/stream-tokens', { body: { scope: 'jobs:read', jobIds: [id] } });
  const run = watchHere(service, [id], body.token);
  await run.shows('running');
  await step(service, id, 'complete');
  expect(await run.end()).toEqual([0, ['init          running', 'completed'], '']);
});

it('watch exits with 1 when the stream token has expired', async () => {
  const fake = await serve(
    () => undefined,
    (_send, stream) => stream.end('event: expired\ndata: {}\n\n'),
  );
  const err = 'yardmaster: The stream token has expired\n';
  expect(await watchHere(fake, ['job']).end()).toEqual([1, [], err]);
});

it('watch without a key prints progress and completion, and exits with 0', async () => {
  const id = await jobIn(service, 'running', 'anonymous');
  await step(service, id, 'progress', { percent: 5, message: 'Begun' });
  const run = watchHere(service, [id], NO_KEY);
  await run.shows('init');
  await step(service, id, 'progress', { percent: 50, message: 'Half' });
  await step(service, id, 'complete', { result: 'secret' });
  expect(await run.end()).toEqual([0, ['init          5% Begun', 'progress      50% Half', 'completed'], '']);
});

it('watch exits with 5 when its stream ends without a message about the end of the job', async () => {
  const { url } = await serve(
    () => undefined,
    (send, stream) => {
      send({ type: 'init', status: undefined });
      stream.end(ENDED);
    },
  );
  const run = watchHere({ url }, ['job'], NO_KEY);
  const err = 'yardmaster: the job has ended, but only an API key with jobs:read can see how\n';
  expect(await run.end()).toEqual([5, ['init          no progress yet'], err]);
});

it('watch exits with 1 and the reason when its stream is refused', async () => {
  const id = await jobIn(service, 'pending', 'refused');
  const { key: keyOfOther } = await service.key(['jobs:read'], { spaceId: 'elsewhere' });
  const reasonOf = async (jobId: string, key?: string) => {
    const [code, lines, err] = await watchHere(service, [jobId], key).end();
    expect([code, lines]).toEqual([1, []]);
    return err;
  };
  expect(await reasonOf('nope')).toBe('yardmaster: Job not found\n');
  expect(await reasonOf(id, 'ym_wrong')).toBe('yardmaster: A valid API key is required\n');
  expect(await reasonOf(id, keyOfOther)).toBe('yardmaster: The API key is bound to another space\n');
});

it('watch exits with 1 when its key is revoked', async () => {
  const { id: keyId, key } = await service.key(['jobs:read']);
  const run = watchHere(service, [await jobIn(service, 'pending', 'revoked')], key);
  await run.shows('init');
  await service.call('DELETE', `/keys/${keyId}`);
  expect([await run.exit(), run.err()]).toEqual([
    1,
    expect.stringMatching(/\nyardmaster: A valid API key is required\n$/),
  ]);
});

it('watch exits immediately, even if a proxy keeps the connection open', async () => {
  const { url } = await serve((_request, response) =>
    response.writeHead(404).end('{"error":"Job not found","code":"JOB_NOT_FOUND"}'),
  );
  const run = yardmaster(['watch', 'nope', '--url', url]);
  expect([await run.exit(), run.err()]).toEqual([1, 'yardmaster: Job not found\n']);
});

it('watch sends the API key in a header, and never prints it, even if the server quotes the headers', async () => {
  const key = 'ym_id_se/cr=et!';
  const { url } = await serve((request, response) => {
    const path = request.url;
    response
      .writeHead(404)
      .end(JSON.stringify({ error: `${path} x-api-key: ${request.headers['x-api-key']}`, code: 'NOT_FOUND' }));
  });
  const run = watchHere({ url: `${url}/base/` }, ['a/b'], key);
  expect(await run.exit()).toBe(1);
  expect(run.err()).toBe('yardmaster: /base/api/v1/realtime/a%2Fb x-api-key: …\n');
});

it('watch --space prints every event of every job as a line until Ctrl-C', async () => {
  const run = watch('--space', 'yard');
  await run.shows('init');

  const { id: first } = await createJob(service, 'yard', { name: 'resize' });
  await step(service, first, 'claim');
  await step(service, first, 'ack');
  await step(service, first, 'progress', { percent: 40, message: 'Resizing' });
  await step(service, first, 'complete', { result: 1 });
  const second = await jobIn(service, 'killed', 'yard', { name: 'crop', delaySeconds: 60 });
  await createJob(service, 'elsewhere');
  await run.shows('killed');

  run.child.kill('SIGINT');
  expect(await run.exit()).toBe(130);
  expect(run.lines()).toEqual([
    'init          yard',
    `created       ${first} resize`,
    `delivered     ${first} resize`,
    `acked         ${first} resize`,
    `progress      ${first} resize 40% Resizing`,
    `completed     ${first} resize 1`,
    `created       ${second} crop scheduled`,
    `killed        ${second} crop stop`,
  ]);
  expect(run.err()).toBe('');
});

it('watch --space --tag shows only jobs with all of the named tags', async () => {
  const run = watch('--space', 'tags', '--tag', 'a', '--tag', 'b');
  await run.shows('init');
  for (const tag of ['a', 'b']) await createJob(service, 'tags', { tags: [tag] });
  const { id } = await createJob(service, 'tags', { tags: ['b', 'a'] });
  await run.shows('created');
  expect(run.lines()).toEqual(['init          tags', `created       ${id} work`]);
});

it('watch --space exits with 141 and without a message when its output is closed', async () => {
  const run = watch('--space', 'head');
  await run.shows('init');
  run.child.stdout?.destroy();
  // A pipe shows that it is closed at the second write at the latest.
  await until(async () => {
    await createJob(service, 'head');
    return run.child.exitCode !== null;
  });
  expect([run.child.exitCode, run.err()]).toEqual([141, '']);
});

const LOST = 'connection lost (the connection broke), reconnecting';

/** Cut the connection of a run, and wait until the run has noticed. */
async function cutOff(run: Run): Promise<void> {
  proxy.cut();
  await until(() => run.err() !== '');
}

const initsOf = (run: Run) => run.lines().filter((line) => line.startsWith('init '));

it('watch reconnects after a lost connection, and continues to the end of the job', async () => {
  const id = await jobIn(service, 'running', 'cut');
  const run = watchHere(proxy, [id]);
  await run.shows('init');
  await cutOff(run);
  proxy.restore();
  await until(() => initsOf(run).length === 2);
  await step(service, id, 'progress', { percent: 90, message: 'Nearly' });
  await step(service, id, 'complete');

  const lines = ['init          running', 'init          running', 'progress      90% Nearly', 'completed'];
  expect(await run.end()).toEqual([0, lines, `${LOST}\n`]);
});

it.each([
  ['complete', {}, undefined, 0, ['init          running', 'init          completed', 'completed']],
  ['fail', { error: 'x' }, undefined, 3, ['init          running', 'init          dead', 'dead          x']],
  ['complete', {}, NO_KEY, 0, [...Array(2).fill('init          no progress yet'), 'completed']],
] as const)(
  'watch exits with the code of a job that ended during the outage: %s %j, with the key %j',
  async (verb, body, key, code, lines) => {
    const id = await jobIn(service, 'running', 'meanwhile', { maxRetries: 0 });
    const run = watchHere(proxy, [id], key);
    await run.shows('init');
    await cutOff(run);
    await step(service, id, verb, body);
    proxy.restore();
    expect(await run.end()).toEqual([code, lines, `${LOST}\n`]);
  },
);

it('watch --space reports that events during an outage are not shown', async () => {
  const run = yardmaster(['watch', '--space', 'gap'], asAdmin(proxy));
  await run.shows('init');
  await cutOff(run);
  await createJob(service, 'gap', { name: 'unseen' });
  proxy.restore();
  await until(() => initsOf(run).length === 2);
  const { id } = await createJob(service, 'gap', { name: 'seen' });
  await run.shows('created');
  expect(run.lines()).toEqual(['init          gap', 'init          gap', `created       ${id} seen`]);
  expect(run.err()).toBe(`${LOST}; events in the meantime are not shown\n`);
});

it('watch shows the events that happened during an outage', async () => {
  const id = await jobIn(service, 'running', 'outage');
  const run = watchHere(proxy, [id]);
  await run.shows('init');
  await step(service, id, 'checkpoint', 1);
  await run.shows('checkpoint');
  await cutOff(run);
  await step(service, id, 'checkpoint', 2);
  await step(service, id, 'event', 'unseen');
  proxy.restore();
  await run.shows('unseen');
  await step(service, id, 'complete');

  const [code, lines, err] = await run.end();
  expect([code, err]).toEqual([0, `${LOST}\n`]);
  expect(lines).toEqual([
    'init          running',
    'checkpoint    1',
    'init          running',
    'checkpoint    2',
    'event         "unseen"',
    'completed',
  ]);
});

it('watch reports lost events of a job that the service no longer has', async () => {
  const asked: unknown[] = [];
  const fake = await serve(
    () => undefined,
    (send, stream, { headers }) => {
      asked.push(headers['last-event-id']);
      send({ type: 'init', seq: 9 - asked.length, missed: asked.length > 1 });
      if (asked.length === 1) send({ type: 'event', seq: 9 });
      else send({ type: 'killed', status: 'killed', seq: 8, timestamp: LATER });
      stream.end(asked.length === 1 ? '' : ENDED);
    },
  );
  const run = watchHere(fake, ['job']);
  expect(await run.exit()).toBe(4);
  expect(asked).toEqual([undefined, '9']);
  expect(run.err().split('\n').slice(1)).toEqual([
    'some events are missing, because the service no longer has them',
    '',
  ]);
});

it('watch exits with 1 when its stream is refused with 400', async () => {
  const fake = await serve((_request, response) =>
    response.writeHead(400).end('{"error":"no","code":"INVALID_REQUEST"}'),
  );
  const run = watchHere(fake, ['job']);
  expect([await run.end(), fake.requests]).toEqual([[1, [], 'yardmaster: no\n'], 1]);
});

it('watch keeps reconnecting while the service is down, and reports it once', async () => {
  const fake = await serve((_request, response, nth) => {
    response.writeHead(503).end('{"error":"Storage is unavailable","code":"UNAVAILABLE"}');
    if (nth < 1) return;
    fake.openStreams((send) => {
      send({ type: 'init' });
      send({ type: 'killed', status: 'killed', data: { reason: null } });
    });
  });
  const run = watchHere(fake, ['job']);
  expect([await run.exit(), fake.requests]).toEqual([4, 2]);
  expect(run.err()).toBe(`cannot connect to ${fake.url} (Storage is unavailable), reconnecting\n`);
});

it('watch does not reconnect before the service allows it', async () => {
  const fake = await serve((_request, response) => response.writeHead(503, { 'retry-after': '3600' }).end());
  // Without Retry-After, the CLI would reconnect within half a second.
  const run = watchHere(fake, ['job', '--timeout', '1']);
  expect([await run.exit(), fake.requests]).toEqual([124, 1]);
});

(hasTerminals ? describe : describe.skip)('watch on a terminal', () => {
  const onTerminal = (jobId: string, env: Record<string, string> = {}) =>
    yardmasterOnTerminal(`watch ${jobId}`, { ...asAdmin(service), ...env });

  it('watch on a terminal draws a job in place, from its earlier progress to its end', async () => {
    const id = await jobIn(service, 'running', 'drawn', { name: 'resize' });
    await step(service, id, 'progress', { percent: 40, message: 'Before' });
    const run = onTerminal(id);
    await run.shows('40% Before');
    await step(service, id, 'progress', { percent: 60, message: 'After', subProgress: { decode: { percent: 50 } } });
    await run.shows('60% After');
    await step(service, id, 'complete', { result: 'done' });

    expect(await run.exit()).toBe(0);
    const last = run.out().slice(run.out().lastIndexOf('\u001b[?7l'));
    const lines = uncoloured(last)
      .split('\n')
      .map((line) => line.trim());
    // The job may have been drawn again after the line of its end.
    expect(uncoloured(run.out())).toMatch(/\d\d:\d\d:\d\d completed {5}"done"/);
    expect(lines.slice(-4)).toEqual([
      expect.stringMatching(new RegExp(`^resize {2}${id} {2}completed {2}\\d+:\\d\\d$`)),
      `${'█'.repeat(20)} 100% After`,
      'decode  █████░░░░░  50%',
      '',
    ]);
    // Lines wrap again, and no other mode of the terminal was ever changed.
    expect(last.endsWith('\u001b[?7h')).toBe(true);
    expect(new Set(run.out().match(/\[\?\d+[hl]/g))).toEqual(new Set(['[?7l', '[?7h']));
  });

  it('watch on a terminal draws when a scheduled job is due, even if the time was set before', async () => {
    const scheduledFor = new Date(2096, 1, 29, 7, 5, 9).toISOString();
    const run = onTerminal(await jobIn(service, 'scheduled', 'later', { delaySeconds: undefined, scheduledFor }));
    await run.shows('until 2096-02-29 07:05:09');
    run.child.stdin?.write('\u0003');
    expect(await run.exit()).toBe(130);
  });

  it('watch on a terminal exits on Ctrl-C with 130, and restores the terminal', async () => {
    const run = onTerminal(await jobIn(service, 'pending', 'interrupted'));
    await run.shows('pending');
    run.child.stdin?.write('\u0003');
    expect(await run.exit()).toBe(130);
    expect(run.out().lastIndexOf('\u001b[?7h')).toBeGreaterThan(run.out().lastIndexOf('\u001b[?7l'));
    expect(run.out().endsWith('\n')).toBe(true);
  });

  it('watch on a terminal prints plain lines if NO_COLOR is set', async () => {
    const run = onTerminal(await jobIn(service, 'killed', 'plain'), { NO_COLOR: '1' });
    expect(await run.exit()).toBe(4);
    expect(run.out()).toMatch(/^\S+Z init {10}killed\r\n$/);
  });
});
