// Whatever a handler returns or throws, its job gets an outcome that the service can store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { errorLine, errorTrace } from '../dist/error-text.js';
import { NonRetryable, RetryAfter, Worker, Yardmaster } from '../dist/index.js';
import { outcomeOf } from '../dist/worker/outcomes.js';
import { jobOf, startFakeJobs, until } from './fake-jobs.mjs';

const LONG = '\u0001é\ud83d'.repeat(40_000);
const fault = () => {
  throw new Error('a getter throws');
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable(new Error('p'), {});
  revoke();
  return proxy;
};
const hostile = {
  get name() {
    return fault();
  },
  get message() {
    return fault();
  },
  get stack() {
    return fault();
  },
  get cause() {
    return fault();
  },
  toString: fault,
};
const cycle = Object.assign(new Error('cycle'), {});
cycle.cause = new Error('inner', { cause: cycle });

// Arbitraries of functions that return a value, because fast-check reads values, and reading some of these throws.
const make = (arbitrary) => arbitrary.map((value) => () => value);
const values = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withSparseArray: true });
const ODD = [LONG, Number.NaN, hostile, Symbol('s'), () => 1, undefined, null, cycle, new Date(Number.NaN)];
const odd = fc.oneof(
  { weight: 3, arbitrary: make(fc.string({ unit: 'binary' })) },
  fc.constantFrom(...ODD.map((value) => () => value), revoked),
  make(values),
);
const FIELDS = { message: odd, name: odd, stack: odd, code: odd };
const { error: errors } = fc.letrec((tie) => ({
  error: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    odd,
    fc
      .record({
        kind: fc.constantFrom(Error, TypeError, NonRetryable, DOMException),
        fields: fc.record({ ...FIELDS, errors: tie('error'), cause: tie('error') }, { requiredKeys: [] }),
      })
      .map(({ kind, fields }) => () => {
        const error = Object.create(new kind('m'));
        for (const [name, field] of Object.entries(fields)) Object.defineProperty(error, name, { value: field() });
        return error;
      }),
    fc.array(tie('error')).map(
      (members) => () =>
        new AggregateError(
          members.map((member) => member()),
          'several',
        ),
    ),
    tie('error').map((cause) => () => new Error('outer', { cause: cause() })),
    fc.constant(() => new RetryAfter('5s', LONG)),
  ),
}));

/** Check that the service would store an outcome as it is. */
function assertStorable(end) {
  const text = JSON.stringify(end);
  assert.deepEqual(JSON.parse(text), end);
  if (end.action !== 'fail') return;
  assert.ok(typeof end.error === 'object' && end.error !== null, text.slice(0, 200));
  assert.ok(Buffer.byteLength(JSON.stringify(end.error)) <= 32_768);
}

test('whatever a handler throws, its outcome can be stored', async () => {
  const thrown = async (value) => {
    const end = await outcomeOf(() => Promise.reject(value()));
    assert.equal(end.action, 'fail');
    assertStorable(end);
  };
  await fc.assert(fc.asyncProperty(errors, thrown), { numRuns: 1_000 });
});

test('whatever a handler returns, its outcome is that result or a non-retryable error', async () => {
  const returned = async (value) => {
    const end = await outcomeOf(() => ({ value: value() }));
    if (end.action === 'complete') assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(end))), ['action', 'result']);
    else {
      assert.deepEqual([end.action, end.retryable, end.error.name], ['fail', false, 'InvalidResult']);
      assertStorable(end);
    }
  };
  await fc.assert(fc.asyncProperty(odd, returned), { numRuns: 1_000 });
});

const RESULTS = [
  [{ n: Number.NaN }, 'result.n is NaN'],
  [[1, { 'a b': [Infinity] }], 'result[1]["a b"][0] is Infinity'],
  [{ at: new Date(Number.NaN) }, 'result.at is an invalid date'],
  [{ map: new Map() }, 'result.map is of the class Map'],
  [{ error: new Error('e') }, 'result.error is of the class Error'],
  [{ call: () => 1 }, 'result.call is a function'],
  [1n, 'result is a bigint'],
];
for (const [result, fault] of RESULTS)
  test(`a result fails its job without retries when ${fault}`, async () => {
    const error = { name: 'InvalidResult', message: `The result is not JSON: ${fault}` };
    assert.deepEqual(await outcomeOf(() => result), { action: 'fail', error, retryable: false });
  });

test('a result that is too large to send fails its job without retries', async () => {
  const { error, retryable } = await outcomeOf(() => 'x'.repeat(16_000_000));
  assert.deepEqual([error.name, retryable], ['InvalidResult', false]);
  assert.match(error.message, /^The result has 16,000,002 characters of JSON, which is too large to send\./);
});

test('a result is stored as it was when the handler returned, even if it is changed afterwards', async () => {
  class Row {
    n = 1;
    get [Symbol.toStringTag]() {
      return 'Row';
    }
  }
  const shared = { row: new Row() };
  const { action, result } = await outcomeOf(() => shared);
  shared.row.n = 2;
  assert.deepEqual([action, result], ['complete', { row: { n: 1 } }]);
});

const STORED = [
  [{ message: 'x', stack: 'at a', causes: 'y' }, 'x', 'x\nat a'],
  [{ name: 'E', message: 'a\nb', causes: [{ message: 'c' }] }, 'E: a b (cause: c)', 'E: a\nb\ncause: c'],
  ['a text', 'a text', null],
  [{ code: 5 }, '{"code":5}', null],
  [null, 'null', null],
];
for (const [error, line, trace] of STORED)
  test(`the stored error ${JSON.stringify(error)} has a line and a trace`, () => {
    assert.deepEqual([errorLine(error), errorTrace(error)], [line, trace]);
  });

test('a result that contains itself fails its job without retries', async () => {
  const result = { list: [] };
  result.list.push(result);
  const { error } = await outcomeOf(() => result);
  assert.equal(error.message, 'The result is not JSON: result contains itself');
});

test('the stored error has the class, message, handler frames, causes and members', async () => {
  class OrderError extends Error {
    name = 'OrderError';
  }
  const refused = Object.assign(new Error('', { cause: { code: 7 } }), { code: 'ECONNREFUSED' });
  const group = new AggregateError([refused, 'a text'], 'several');
  const { error } = await outcomeOf(() => Promise.reject(new OrderError('outer', { cause: group })));
  assert.deepEqual([error.name, error.message], ['OrderError', 'outer']);
  assert.match(error.stack, /^ {4}at .*outcomes\.test\.mjs/);
  assert.doesNotMatch(error.stack, /outer|node:internal|sdk\/typescript\/dist/);
  const [{ name, message, causes }] = error.causes;
  assert.deepEqual([name, message, causes.length], ['AggregateError', 'several', 2]);
  assert.deepEqual([causes[0].message, causes[0].causes[0].message], ['ECONNREFUSED', '{"code":7}']);
  assert.deepEqual(causes[1], { name: 'Error', message: 'a text' });
});

test('a thrown plain object is stored unchanged', async () => {
  const thrown = { code: 5, detail: 'quota' };
  assert.deepEqual((await outcomeOf(() => Promise.reject(thrown))).error, thrown);
});

test('whatever a handler throws, its attempt gets an outcome and the worker keeps running', async () => {
  const thrown = [...fc.sample(errors, { numRuns: 100 }), () => hostile, revoked, () => cycle];
  const fake = await startFakeJobs(thrown.map((_, i) => jobOf(`j${i}`, { payload: { i } })));
  const unhandled = [];
  const note = (error) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const warnings = [];
  const options = {
    concurrency: 20,
    handleSignals: false,
    drain: '10s',
    onWarning: (warning) => warnings.push(warning),
  };
  const worker = new Worker(new Yardmaster(fake.options), options).on('a', ({ payload }) => {
    throw thrown[payload.i]();
  });
  const running = worker.run();
  await until(() => fake.outcomes.length >= thrown.length);
  worker.stop();
  await running;
  await fake.close();
  process.off('unhandledRejection', note);
  assert.deepEqual(unhandled, []);
  assert.deepEqual(new Set(fake.outcomes.map(({ action }) => action)), new Set(['fail']));
  assert.deepEqual(new Set(warnings.map(({ kind }) => kind).filter((kind) => kind !== 'stream')), new Set(['failed']));
});

/** Refuse outcomes of an action, alone and among others, until one is replaced. */
const refusing = (action, status) => (call) => {
  const { url, body } = call;
  const has = JSON.stringify(body)?.includes(`"action":"${action}"`) || url.endsWith(`/${action}`);
  const isReplaced = /The service refuse|which the service refuses/.test(JSON.stringify(body)) || body?.reason === null;
  if (!has || isReplaced || (url.endsWith(`/${action}`) && Object.keys(body).length === 0)) return undefined;
  return [status, { error: 'it must be smaller', code: status === 413 ? 'TOO_LARGE' : 'INVALID_REQUEST' }];
};

const REFUSED = [
  ['complete', 413, () => 'x'.repeat(300_000), { action: 'fail', retryable: false, name: 'InvalidResult' }],
  ['complete', 400, () => ({ a: 1 }), { action: 'fail', retryable: false, name: 'InvalidResult' }],
  ['fail', 400, () => Promise.reject(new TypeError('t')), { action: 'fail', retryable: undefined, name: 'TypeError' }],
  [
    'fail',
    413,
    () => Promise.reject(new NonRetryable('t')),
    { action: 'fail', retryable: false, name: 'NonRetryable' },
  ],
  ['release', 400, (_, context) => context.release({ reason: 'r' }), { action: 'release' }],
];
for (const [action, status, handler, instead] of REFUSED)
  test(`a ${action} that the service refuses with ${status} is replaced (${instead.name ?? 'without its reason'})`, async () => {
    const fake = await startFakeJobs([jobOf('j')], refusing(action, status));
    const options = { handleSignals: false, drain: '10s', onWarning: () => undefined };
    const worker = new Worker(new Yardmaster(fake.options), options).on('a', handler);
    const running = worker.run();
    await until(() => fake.outcomes.length > 0);
    worker.stop();
    await running;
    await fake.close();
    assert.equal(fake.outcomes.length, 1);
    const [{ action: sent, retryable, error, reason }] = fake.outcomes;
    assert.deepEqual(
      { action: sent, retryable, name: error?.name },
      { retryable: undefined, name: undefined, ...instead },
    );
    assert.equal(reason, undefined);
    if (action === 'complete' && status === 413)
      assert.match(
        error.message,
        /^The result has 300,002 bytes of JSON, which the service refuses: it must be smaller\./,
      );
  });
