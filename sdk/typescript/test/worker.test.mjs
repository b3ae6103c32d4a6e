import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPino, Worker, Yardmaster } from '../dist/index.js';
import { jobOf, startFakeJobs, until } from './fake-jobs.mjs';
import { startFake } from './fake-service.mjs';

const client = new Yardmaster({ url: 'http://127.0.0.1:9', apiKey: 'k', space: 's' });

test('a worker refuses invalid options, and names that it cannot register', async () => {
  assert.throws(() => new Worker(client, { concurrency: 0 }), /concurrency must be a positive whole number; got 0/);
  assert.throws(() => new Worker(client, { drain: 'soon' }), /drain must be a number of seconds/);
  const worker = new Worker(client).on('a', () => null);
  assert.throws(() => worker.on('a', () => null), /a already has a handler/);
  assert.throws(() => worker.on('b'), /on\(\) needs a name and a handler/);
  await assert.rejects(new Worker(client).run(), /Register a handler/);
});

/** Run a worker with one handler against a fake service. */
async function work(fake, handler, options, act) {
  const worker = new Worker(new Yardmaster(fake.options), {
    ...{ onWarning: () => undefined, handleSignals: false, drain: 0.1, ...options },
  }).on('a', handler);
  const running = worker.run();
  running.catch(() => undefined); // It is awaited below.
  try {
    await act(worker, running);
  } finally {
    worker.stop();
    await running.catch(() => undefined);
    await fake.close();
  }
}

test('run rejects when the key is refused', async () => {
  const fake = await startFake(() => [401, { error: 'A valid API key is required', code: 'UNAUTHENTICATED' }]);
  await work(
    fake,
    () => null,
    {},
    (_, running) => assert.rejects(running, { code: 'UNAUTHENTICATED' }),
  );
});

test('a worker keeps polling after a proxy answers its polls, even with 404', async () => {
  const fake = await startFakeJobs([jobOf('j')], ({ url }, count) =>
    url.endsWith('/poll') && count < 3 ? [404, '<html>no backend</html>'] : undefined,
  );
  await work(
    fake,
    () => 1,
    {},
    () => until(() => fake.outcomes.length > 0),
  );
  assert.deepEqual(fake.outcomes, [{ jobId: 'j', deliveryToken: 'token of j', action: 'complete', result: 1 }]);
});

test('/healthz returns 200 while polls are answered, and its port is free after the run', async () => {
  const fake = await startFakeJobs([]);
  const free = await startFake(() => null);
  const healthPort = Number(new URL(free.options.url).port);
  await free.close();
  const statusOf = async (path) => (await fetch(`http://127.0.0.1:${healthPort}${path}`)).status;
  await work(
    fake,
    () => null,
    { healthPort },
    async () => {
      await until(() => fake.calls.length > 1);
      assert.deepEqual([await statusOf('/healthz'), await statusOf('/')], [200, 404]);
    },
  );
  await assert.rejects(statusOf('/healthz'));
});

test('log entries of a handler reach pino, and reach the job before it ends', async () => {
  const fake = await startFakeJobs([jobOf('j')]);
  const lines = [];
  const onLog = toPino({ info: (fields, message) => lines.push([fields, message]) });
  const handler = (_, { log }) => log.info('no profile', { file: 'cat.png' });
  await work(fake, handler, { onLog }, () => until(() => fake.outcomes.length > 0));
  assert.deepEqual(lines, [[{ file: 'cat.png', jobId: 'j', jobName: 'a' }, 'no profile']]);
  const calls = fake.calls.filter(({ url, body }) => url.endsWith('/logs') || /complete/.test(JSON.stringify(body)));
  assert.equal(calls[0].url, '/api/v1/jobs/j/logs');
  const [{ level, message, metadata }] = calls[0].body;
  assert.deepEqual(
    { level, message, metadata },
    { level: 'info', message: 'no profile', metadata: { file: 'cat.png' } },
  );
});

test('a worker keeps running when onWarning or onLog throws', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  const fake = await startFakeJobs([jobOf('j', { name: 'other' }), jobOf('k')]);
  const handler = (_, { log }) => log.info('begun');
  await work(fake, handler, { onWarning: broken, onLog: broken }, () => until(() => fake.outcomes.length > 1));
  assert.deepEqual(fake.outcomes.map(({ jobId, action }) => `${action} ${jobId}`).sort(), ['complete k', 'release j']);
});

test('save throws in the handler if the checkpoint is not JSON', async () => {
  const fake = await startFakeJobs([jobOf('j')]);
  const handler = (_, context) => context.save({ page: 1n });
  await work(fake, handler, { drain: '30s' }, () => until(() => fake.outcomes.length > 0));
  const [{ action, error }] = fake.outcomes;
  assert.deepEqual([action, error.message], ['fail', 'checkpoint.page is a bigint']);
});

test('a second stop releases running jobs immediately, even if one outcome is invalid', async () => {
  const refuses = ({ url, body }) => {
    if (!url.endsWith('/settle') || !body.outcomes.some(({ jobId }) => jobId === 'bad')) return undefined;
    if (body.outcomes.every(({ action }) => action === 'ack' || action === 'keepalive')) return undefined;
    return [400, { error: 'outcomes[0] is invalid', code: 'INVALID_REQUEST' }];
  };
  const fake = await startFakeJobs([jobOf('bad'), jobOf('good')], refuses);
  let started = 0;
  const handler = async () => {
    started++;
    await new Promise(() => undefined);
  };
  await work(fake, handler, { drain: '1h' }, async (worker, running) => {
    await until(() => started === 2);
    worker.stop();
    worker.stop();
    await running;
  });
  const released = fake.outcomes
    .filter(({ action }) => action === 'release')
    .map(({ jobId, reason }) => [jobId, reason]);
  assert.deepEqual(released.sort(), [
    ['bad', 'worker is shutting down'],
    ['good', 'worker is shutting down'],
  ]);
});

test('a payload that does not match its schema fails the job without retries, and the error names the field', async () => {
  const fake = await startFakeJobs([jobOf('j', { payload: { width: 'x' } })]);
  const issues = [{ message: 'expected a number', path: ['width'] }];
  const schema = { '~standard': { version: 1, vendor: 'test', validate: async () => ({ issues }) } };
  const worker = new Worker(new Yardmaster(fake.options), { onWarning: () => undefined, handleSignals: false });
  const running = worker.on('a', schema, () => assert.fail('it must not run')).run();
  await until(() => fake.outcomes.length > 0);
  worker.stop();
  await running;
  await fake.close();
  const [{ action, error, retryable }] = fake.outcomes;
  assert.deepEqual(
    { action, error, retryable },
    {
      action: 'fail',
      error: { name: 'NonRetryable', message: 'The payload is not valid: payload.width: expected a number' },
      retryable: false,
    },
  );
});

test('of frequent progress reports only some are sent, the newest one before the outcome', async () => {
  const fake = await startFakeJobs([jobOf('j')]);
  let lastedMs = 0;
  const handler = async (_, context) => {
    const began = performance.now();
    for (let i = 1; i <= 100; i++) {
      await context.progress(i, `step ${i}`);
      await sleep(3);
    }
    lastedMs = performance.now() - began;
  };
  await work(fake, handler, {}, () => until(() => fake.outcomes.some(({ action }) => action === 'complete')));
  const [last, end] = fake.outcomes.slice(-2);
  assert.deepEqual([last.action, last.percent, end.action], ['progress', 100, 'complete']);
  assert.ok(fake.outcomes.length <= lastedMs / 200 + 3, `${fake.outcomes.length} outcomes in ${lastedMs} ms`);
});

test('the last progress report is sent even if the log takes longer than the report interval', async () => {
  const answer = async ({ url }) => {
    if (!url.endsWith('/logs')) return undefined;
    await sleep(500);
    return [200, { success: true, inserted: 1, fromSeq: 1, toSeq: 1 }];
  };
  const fake = await startFakeJobs([jobOf('j')], ({ url, headers }) => answer({ url, headers }));
  const handler = async (_, context) => {
    await context.progress(1, 'begun');
    await until(() => fake.outcomes.length === 1);
    context.log.info('slow');
    await context.progress(100, 'done');
  };
  await work(fake, handler, {}, () => until(() => fake.outcomes.some(({ action }) => action === 'complete')));
  assert.deepEqual(
    fake.outcomes.map(({ action, percent }) => percent ?? action),
    [1, 100, 'complete'],
  );
});

test('outcomes of a job keep their order when a call with several of them is refused', async () => {
  const answer = async ({ url, body }) => {
    if (url.endsWith('/progress')) await sleep(300); // Longer than the complete would take.
    const outcomes = body?.outcomes ?? body?.settle ?? [];
    const isRefused = outcomes.some(({ action }) => action === 'complete');
    return isRefused ? [413, { error: 'The body is too large', code: 'TOO_LARGE' }] : undefined;
  };
  const fake = await startFakeJobs([jobOf('j')], answer);
  const handler = async (_, context) => {
    await context.progress(1, 'begun');
    await until(() => fake.outcomes.length === 1);
    await context.progress(100, 'done');
  };
  await work(fake, handler, {}, () => until(() => fake.outcomes.length === 3));
  assert.deepEqual(
    fake.outcomes.map(({ action, percent }) => percent ?? action),
    [1, 100, 'complete'],
  );
});

test('a rate-limited worker honors Retry-After in every call and loses no outcome', async () => {
  const limited = new Map();
  const times = new Map();
  const kindOf = ({ url, body }) => (url.endsWith('/settle') ? body.outcomes[0].action : url.split('/').at(-1));
  // A heartbeat is due after 0.1 s, and Retry-After is longer than the half of that.
  const fake = await startFakeJobs([jobOf('j', { timeoutSeconds: 0.3 })], (call) => {
    const kind = kindOf(call);
    times.set(kind, [...(times.get(kind) ?? []), performance.now()]);
    if (limited.has(kind)) return undefined;
    limited.set(kind, true);
    return [429, { error: 'Too many calls', code: 'RATE_LIMITED' }, { 'retry-after': '0.4' }];
  });
  await work(
    fake,
    () => until(() => times.get('keepalive')?.length > 1),
    { drain: 10 },
    () => until(() => fake.outcomes.length > 0),
  );
  assert.deepEqual(
    fake.outcomes.map(({ action }) => action),
    ['complete'],
  );
  for (const kind of ['ack', 'keepalive', 'complete']) {
    const [first, second] = times.get(kind) ?? [];
    if (second !== undefined) assert.ok(second - first >= 395, `${kind} was sent again after ${second - first} ms`);
  }
  assert.ok(['poll', 'ack', 'keepalive'].every((kind) => times.get(kind).length > 1));
});

const isEphemeral = ({ url }) => url.endsWith('/event?ephemeral=true');

test('an ephemeral event is sent once with the token, even if it gets no response', async () => {
  const answers = [null, [503, { error: 'x', code: 'OVERLOADED' }], [200, { success: true }]];
  const fake = await startFakeJobs([jobOf('j')], (call) => (isEphemeral(call) ? answers.shift() : undefined));
  const handler = async (_, context) => {
    for (const token of ['a', 'b', 'c']) await context.event(token, { ephemeral: true });
  };
  await work(fake, handler, {}, () => until(() => fake.outcomes.length > 0));
  const sent = fake.calls.filter(isEphemeral);
  assert.deepEqual(
    sent.map(({ url, headers, body }) => [url, headers['x-delivery-token'], body]),
    ['a', 'b', 'c'].map((token) => ['/api/v1/jobs/j/event?ephemeral=true', 'token of j', token]),
  );
  assert.deepEqual(
    fake.outcomes.map(({ action }) => action),
    ['complete'],
  );
});

test('an ephemeral event aborts the handler if the job was killed, and throws if it is refused or not JSON', async () => {
  const refusals = [
    [413, { error: 'Too large', code: 'TOO_LARGE' }],
    [409, { error: 'Job has been killed', code: 'JOB_KILLED', jobStatus: 'killed' }],
  ];
  const fake = await startFakeJobs([jobOf('j')], (call) => (isEphemeral(call) ? refusals.shift() : undefined));
  const thrown = [];
  let reason;
  const handler = async (_, context) => {
    for (const data of [1n, 1, 2]) await context.event(data, { ephemeral: true }).catch((error) => thrown.push(error));
    reason = context.signal.reason;
  };
  await work(fake, handler, {}, () => until(() => reason !== undefined));
  assert.deepEqual(
    thrown.map(({ name, code }) => code ?? name),
    ['TypeError', 'TOO_LARGE', 'Killed'],
  );
  assert.equal(reason, thrown[2]);
});
