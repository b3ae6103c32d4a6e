import { describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ACTIONS, type Item, itemOf, poll, read, settle } from './settle.js';

const service = withService();
const SPACE = 'items';
const running = (spaceId = SPACE) => jobIn(service, 'running', spaceId);
const complete = (jobId: string, rest = {}): Item => ({ jobId, action: 'complete', ...rest });

/** Both calls that settle: the name of the list in the body, and the call. */
const CALLS = [
  ['outcomes', settle, 100],
  [
    'settle',
    (api: typeof service, spaceId: string, list: unknown, options = {}) =>
      poll(api, spaceId, { settle: list }, options),
    50,
  ],
] as const;

const refusal = (jobId: string, code: string, error: string) => ({ jobId, success: false, error, code });

it.each([3, 100])('settle returns %s results in order, even for refused jobs', async (count) => {
  const ours = await Promise.all(Array.from({ length: count - 2 }, () => running()));
  const other = await running('elsewhere');
  const [nobody, nonsense] = [`${ours[0]?.slice(0, 2)}${'a'.repeat(26)}`, 'nonsense'];
  const ids = [other, nonsense, ...ours.slice(0, -1), nobody];
  const { status, body } = await settle(
    service,
    SPACE,
    ids.map((id) => complete(id)),
  );
  expect(status).toBe(200);
  expect(body.results).toEqual([
    refusal(other, 'FORBIDDEN', 'Job is in a different space than the path'),
    refusal(nonsense, 'JOB_NOT_FOUND', 'Job not found'),
    ...ours.slice(0, -1).map((jobId) => ({ jobId, success: true })),
    refusal(nobody, 'JOB_NOT_FOUND', 'Job not found'),
  ]);
  expect((await read(service, other)).status).toBe('running');
  for (const id of ours.slice(0, -1)) expect((await read(service, id)).status).toBe('completed');
});

it.each([1, 6])(
  'settle refuses jobs of other spaces with FORBIDDEN, in the same partition or not, together with %s others',
  async (count) => {
    const { store } = service;
    const home = store.keys.baseOfSpace(SPACE);
    const names = Array.from({ length: 20_000 }, (_, i) => `space-${i}`);
    const neighbour = names.find((name) => store.keys.baseOfSpace(name) === home) as string;
    const stranger = names.find((name) => store.keys.baseOfSpace(name) !== home) as string;
    const foreign = [await running(neighbour), await running(stranger)];
    const ours = await Promise.all(Array.from({ length: count }, () => running()));
    const { body } = await settle(
      service,
      SPACE,
      [...foreign, ...ours].map((id) => complete(id)),
    );
    expect(body.results.map(({ error }: { error?: string }) => error)).toEqual([
      'Job is in a different space than the path',
      'Job is in a different space than the path',
      ...ours.map(() => undefined),
    ]);
    for (const id of foreign) expect((await read(service, id)).status).toBe('running');
  },
);

describe.each(CALLS)('a call with %s', (list, call, max) => {
  const FAULTS: [what: string, item: unknown, path: string, rule?: RegExp][] = [
    ['no jobId', { action: 'ack' }, '.jobId'],
    ['a jobId that is no text', { jobId: 5, action: 'ack' }, '.jobId', /must be a string/],
    ['no action', { jobId: 'a' }, '.action', /must be one of ack, keepalive/],
    ['an unknown action', { jobId: 'a', action: 'kill' }, '.action', /must be one of ack, keepalive/],
    ['an action of every object', { jobId: 'a', action: 'constructor' }, '.action'],
    ['no object', 'complete', ''],
    ['null', null, ''],
    ['a list', [], ''],
    ['a token that no claim returns', { jobId: 'a', action: 'ack', deliveryToken: '1' }, '.deliveryToken'],
    ['a token that is no text', { jobId: 'a', action: 'ack', deliveryToken: 1 }, '.deliveryToken', /must be a string/],
    ['a failure without an error', { jobId: 'a', action: 'fail' }, '.error'],
    ['progress above 100', { jobId: 'a', action: 'progress', percent: 101, message: 'x' }, '.percent'],
    ['progress without a message', { jobId: 'a', action: 'progress', percent: 1 }, '.message'],
    [
      'a stage without a message',
      { jobId: 'a', action: 'progress', percent: 1, message: 'x', subProgress: { b: {} } },
      '.subProgress.b.percent',
    ],
    ['a reason that is no text', { jobId: 'a', action: 'release', reason: 5 }, '.reason', /must be a string/],
    ['a negative delay', { jobId: 'a', action: 'release', delaySeconds: -1 }, '.delaySeconds'],
    ['a flag that is no boolean', { jobId: 'a', action: 'fail', error: 'x', retryable: 'no' }, '.retryable'],
  ];

  it.each(FAULTS)(
    `refuses an item of ${list} with 400 for %s, and does nothing`,
    async (_, item, path, rule = /must|is required/) => {
      const id = await running();
      const { status, body } = await call(service, SPACE, [complete(id), item, complete(id)]);
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
      const named = `${list}[1]${path}`;
      expect(body.error.startsWith(`${named} `)).toBe(true);
      expect(body.error).toMatch(rule);
      for (const { path: each } of body.details ?? []) expect(each).toMatch(named.slice(0, list.length + 3));
      expect((await read(service, id)).status).toBe('running');
    },
  );

  it(`accepts ${max} items of ${list}, and refuses more without doing anything`, async () => {
    const id = await running();
    const many = (count: number) => Array.from({ length: count }, () => ({ jobId: id, action: 'keepalive' }));
    const { status, body } = await call(service, SPACE, [complete(id), ...many(max)]);
    expect(status).toBe(400);
    expect(body.error).toBe(`${list} must have at most ${max} outcomes`);
    expect((await read(service, id)).status).toBe('running');
    const accepted = await call(service, SPACE, many(max));
    expect(accepted.body[list === 'settle' ? 'settled' : 'results']).toEqual(
      Array(max).fill({ jobId: id, success: true }),
    );
  });

  it.each([{}, 'complete', 5])(`refuses %j as the list ${list}`, async (value) => {
    const { status, body } = await call(service, SPACE, value);
    expect({ status, error: body.error }).toEqual({ status: 400, error: `${list} must be an array of objects` });
  });

  const UNKNOWN: [item: object, field: string, hint: string | null][] = [
    [{ action: 'ack', deliveryTokn: '0.0' }, 'deliveryTokn', 'deliveryToken'],
    [{ action: 'ack', result: 1 }, 'result', null],
    [{ action: 'keepalive', data: 1 }, 'data', null],
    [{ action: 'progress', percent: 1, message: 'x', mesage: 1 }, 'mesage', 'message'],
    [
      { action: 'progress', percent: 1, message: 'x', subProgress: { b: { percent: 1, message: 'x', x: 1 } } },
      'subProgress.b.x',
      null,
    ],
    [{ action: 'checkpoint', dat: 1 }, 'dat', 'data'],
    [{ action: 'event', result: 1 }, 'result', null],
    [{ action: 'complete', resul: 1 }, 'resul', 'result'],
    [{ action: 'fail', error: 'x', retriable: false }, 'retriable', 'retryable'],
    [{ action: 'release', delaySecond: 1 }, 'delaySecond', 'delaySeconds'],
  ];

  it.each(UNKNOWN)(`lists the unknown field of %j in ${list}, or refuses it`, async (item, field, hint) => {
    const id = await running();
    const items = [
      { jobId: id, action: 'keepalive', data: undefined },
      { jobId: id, ...item },
    ];
    const path = `${list}[1].${field}`;
    const suggestion = hint === null ? '' : `, did you mean ${hint}?`;
    const strict = await call(service, SPACE, items, { headers: { prefer: 'handling=strict' } });
    expect(strict).toMatchObject({ status: 400, body: { error: `unknown field ${path}${suggestion}` } });
    const { status, headers } = await call(service, SPACE, items);
    expect({ status, ignored: headers['x-ignored-fields'] }).toEqual({ status: 200, ignored: path });
  });

  it(`lists no unknown field inside free-form JSON of ${list}`, async () => {
    const free = { a: { b: [{ c: 1 }] } };
    const id = await running();
    const items = [
      { jobId: id, action: 'checkpoint', data: free },
      { jobId: id, action: 'event', data: free },
      { jobId: id, action: 'progress', percent: 1, message: 'x', subProgress: { data: { percent: 1, message: 'x' } } },
      { jobId: id, action: 'complete', result: free },
      { jobId: id, action: 'fail', error: free },
    ];
    const { status, headers } = await call(service, SPACE, items, { headers: { prefer: 'handling=strict' } });
    expect({ status, ignored: headers['x-ignored-fields'] }).toEqual({ status: 200, ignored: undefined });
  });
});

const SCOPES = {
  ...{ ack: 'jobs:ack', progress: 'jobs:progress', checkpoint: 'jobs:event', event: 'jobs:event' },
  ...{ keepalive: 'jobs:keepalive', complete: 'jobs:complete', fail: 'jobs:fail', release: 'jobs:fail' },
};

it.each([...new Set(Object.values(SCOPES))])(
  'settle allows a key with %s only the actions of that scope',
  async (scope) => {
    const { key } = await service.key([scope]);
    const ids = await Promise.all(
      ACTIONS.map((action) => jobIn(service, action === 'ack' ? 'delivered' : 'running', 'scopes')),
    );
    const items = ACTIONS.map((action, i) => itemOf(ids[i] as string, action));
    const { status, body } = await settle(service, 'scopes', items, { key });
    const expected = ACTIONS.map((action, i) =>
      SCOPES[action] === scope
        ? { jobId: ids[i], success: true }
        : { jobId: ids[i], success: false, error: `Missing required scope: ${SCOPES[action]}`, code: 'FORBIDDEN' },
    );
    expect({ status, results: body.results }).toEqual({ status: 200, results: expected });
  },
);

it('settle refuses a key with none of the scopes, and poll one without jobs:poll', async () => {
  const id = await jobIn(service, 'running', 'scopes');
  const [none, worker] = [await service.key(['jobs:read', 'jobs:poll']), await service.key(['jobs:complete'])];
  expect((await settle(service, 'scopes', [itemOf(id, 'complete')], { key: none.key })).status).toBe(403);
  const refused = await poll(service, 'scopes', { settle: [itemOf(id, 'complete')] }, { key: worker.key });
  expect({ status: refused.status, error: refused.body.error }).toEqual({
    ...{ status: 403, error: 'Missing required scope: jobs:poll' },
  });
  expect((await read(service, id)).status).toBe('running');
});

it('poll refuses autoAck without jobs:ack, and then settles and claims nothing', async () => {
  const [id, next] = [await jobIn(service, 'running', 'auto'), await createJob(service, 'auto')];
  const { key } = await service.key(['jobs:poll', 'jobs:complete']);
  const { status, body } = await poll(service, 'auto', { autoAck: true, settle: [itemOf(id, 'complete')] }, { key });
  expect({ status, error: body.error }).toEqual({ status: 403, error: 'Missing required scope: jobs:ack' });
  expect([(await read(service, id)).status, (await read(service, next.id)).status]).toEqual(['running', 'pending']);
  const withoutAck = await poll(service, 'auto', { settle: [itemOf(id, 'complete')] }, { key });
  expect(withoutAck.body).toMatchObject({ jobs: [{ id: next.id }], settled: [{ success: true }] });
});

it('settle and poll refuse a key of another space before they read an outcome', async () => {
  const id = await jobIn(service, 'running', 'own');
  const { key } = await service.key(['jobs:worker'], { spaceId: 'other' });
  const refusal = { status: 403, body: { error: 'The API key is bound to another space', code: 'FORBIDDEN' } };
  expect(await settle(service, 'own', [itemOf(id, 'complete')], { key })).toMatchObject(refusal);
  expect(await poll(service, 'own', { settle: [itemOf(id, 'complete')] }, { key })).toMatchObject(refusal);
  const { status, body } = await settle(service, 'other', [itemOf(id, 'complete')], { key });
  expect({ status, results: body.results }).toEqual({
    status: 200,
    results: [{ jobId: id, success: false, error: 'Job is in a different space than the path', code: 'FORBIDDEN' }],
  });
  expect((await read(service, id)).status).toBe('running');
});
