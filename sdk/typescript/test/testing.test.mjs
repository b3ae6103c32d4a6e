import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Killed, NonRetryable, RetryAfter } from '../dist/index.js';
import { run } from '../dist/testing.js';

test('run records what a handler reports', async () => {
  const done = await run(
    async ({ payload, attempt }, context) => {
      await context.progress(40, 'Resizing', { decode: 100, encode: { percent: 5, message: 'slow' } });
      await context.save({ page: 7 });
      await context.event('seen');
      await context.event('token', { ephemeral: true });
      context.log.warn('no profile', { file: payload.image });
      return { attempt, from: context.checkpoint };
    },
    { image: 'cat.png' },
    { attempt: 2, checkpoint: { page: 3 } },
  );
  assert.deepEqual([done.status, done.result], ['completed', { attempt: 2, from: { page: 3 } }]);
  const subProgress = { decode: { percent: 100 }, encode: { percent: 5, message: 'slow' } };
  assert.deepEqual(done.progress, [{ percent: 40, message: 'Resizing', subProgress }]);
  assert.deepEqual([done.checkpoints, done.events, done.ephemeralEvents], [[{ page: 7 }], ['seen'], ['token']]);
  const [{ level, message, metadata }] = done.logs;
  assert.deepEqual([level, message, metadata], ['warn', 'no profile', { file: 'cat.png' }]);
});

const ENDS = [
  [
    'an error',
    () => Promise.reject(new Error('disk full')),
    { status: 'failed', isRetryable: true, delaySeconds: undefined },
  ],
  [
    'NonRetryable',
    () => Promise.reject(new NonRetryable('404')),
    { status: 'failed', isRetryable: false, delaySeconds: undefined },
  ],
  [
    'RetryAfter',
    () => Promise.reject(new RetryAfter('30s')),
    { status: 'failed', isRetryable: true, delaySeconds: 30 },
  ],
  [
    'a release',
    (_, context) => context.release({ delay: '10m' }),
    { status: 'released', isRetryable: false, delaySeconds: 600 },
  ],
  ['a result that is not JSON', () => 1n, { status: 'failed', isRetryable: false, delaySeconds: undefined }],
  [
    'a result that is too large',
    () => 'x'.repeat(262_143),
    { status: 'failed', isRetryable: false, delaySeconds: undefined },
  ],
];
for (const [what, handler, end] of ENDS)
  test(`run returns the outcome of ${what}`, async () => {
    const { status, isRetryable, delaySeconds } = await run(handler, null);
    assert.deepEqual({ status, isRetryable, delaySeconds }, end);
  });

test('a payload that does not match its schema fails without retries, and the error names the field', async () => {
  const validate = () => ({ issues: [{ message: 'Expected a number', path: ['size', { key: 'width' }] }] });
  const schema = { '~standard': { version: 1, vendor: 'test', validate } };
  const { isRetryable, error } = await run(() => null, {}, { schema });
  assert.deepEqual(
    [isRetryable, error.message],
    [false, 'The payload is not valid: payload.size.width: Expected a number'],
  );
});

test('run clamps a percentage that a rounding error put above 100', async () => {
  const { progress } = await run((_, context) => context.progress(100.00000000000001, 'x'), null);
  assert.deepEqual(progress, [{ percent: 100, message: 'x' }]);
});

for (const [args, message] of [
  [[101, 'x'], /percent must be a number from 0 to 100; got 101/],
  [[50, ''], /message must be a non-empty string/],
  [[50, 'x', { decode: -1 }], /subProgress\.decode/],
])
  test(`progress(${JSON.stringify(args).slice(1, -1)}) throws an error in the handler`, async () => {
    const { error } = await run((_, context) => context.progress(...args), null);
    assert.match(error.message, message);
  });

test('run aborts the handler when the signal of the test is aborted', async () => {
  const controller = new AbortController();
  const handler = (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason.name)));
  const running = run(handler, null, { signal: controller.signal });
  controller.abort(new Killed());
  assert.equal((await running).result, 'Killed');
});
