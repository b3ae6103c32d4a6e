import { expect, it } from '@jest/globals';
import type { Action, Status } from '@yardmaster/protocol';
import type { HttpResponse } from '../support/http.js';
import { withService } from '../support/service.js';
import { ACTIONS, itemOf, jobAfter, resultOf, settle, single, tokenFor, tracesOf } from './settle.js';

// The API alone, so that no scheduler changes a job between two calls.
const service = withService({}, { app: 'api', isOwn: true });

/** Calls that bring a job of two attempts into a status, so that it has had the tokens 0.0 and 1.0. */
const FIRST = ['claim', 'ack', 'fail', 'reschedule'];
const STEPS: Record<Status, string[]> = {
  scheduled: ['claim', 'ack', 'fail'],
  pending: FIRST,
  delivered: [...FIRST, 'claim'],
  running: [...FIRST, 'claim', 'ack'],
  completed: [...FIRST, 'claim', 'ack', 'complete'],
  dead: [...FIRST, 'claim', 'ack', 'fail'],
  killed: [...FIRST, 'claim', 'ack', 'kill'],
};
const TOKENS = { 'no token': undefined, 'the current token': '1.0', 'a stale token': '0.0', 'an unknown one': '8.9' };

let keys = 0;
const OPTIONS: Record<string, () => object> = {
  'has no options': () => ({}),
  'may be tried again': () => ({ maxRetries: 5 }),
  'has every option': () => ({
    ...{ maxRetries: 1, timeoutSeconds: 7, maxRunSeconds: 5, startWithinSeconds: 90, priority: 3 },
    ...{ retry: { delaySeconds: [1, 2] }, unique: { key: `k${keys++}`, until: 'started' } },
    ...{ callbackUrl: 'http://callback.example/', payload: { n: 1 } },
  }),
};

const cells = Object.values(TOKENS).flatMap((token) => ACTIONS.map((action) => ({ token, action })));
const rows = Object.keys(OPTIONS).flatMap((options) => Object.keys(STEPS).map((status) => [status, options] as const));

it.each(rows)(
  'settle has the effect of single calls on a %s job that %s, for few jobs and for many',
  async (status, options) => {
    const spaceId = `twins-${status}`;
    const fields = () => ({ maxRetries: 1, ...OPTIONS[options]?.() });
    const create = () => Promise.all(cells.map(() => jobAfter(service, spaceId, STEPS[status as Status], fields())));
    const [one, few, many] = [await create(), await create(), await create()] as [string[], string[], string[]];

    const responses: HttpResponse[] = [];
    for (const [i, { action, token }] of cells.entries())
      responses.push(await single(service, one[i] as string, action, await tokenFor(service, one[i] as string, token)));
    const itemsOf = (ids: string[]) =>
      Promise.all(
        cells.map(async ({ action, token }, i) => {
          const id = ids[i] as string;
          return itemOf(id, action, await tokenFor(service, id, token));
        }),
      );
    const ofFew = [];
    for (const item of await itemsOf(few)) ofFew.push(...(await settle(service, spaceId, [item])).body.results);
    const ofMany = (await settle(service, spaceId, await itemsOf(many))).body.results;

    const expected = (ids: string[]) => responses.map((response, i) => resultOf(ids[i] as string, response));
    expect(ofFew).toEqual(expected(few));
    expect(ofMany).toEqual(expected(many));
    const traces = (ids: string[]) =>
      tracesOf(
        service,
        ids.map((id, i) => ({ id, isKeptAlive: cells[i]?.action === 'keepalive' })),
      );
    const [traceOfOne, traceOfFew, traceOfMany] = [await traces(one), await traces(few), await traces(many)];
    expect(traceOfFew).toEqual(traceOfOne);
    expect(traceOfMany).toEqual(traceOfOne);
  },
);

it.each(ACTIONS)('settle refuses %s for a job that does not exist, like the single call', async (action: Action) => {
  const missing = `${(await jobAfter(service, 'missing', [])).slice(0, 2)}${'a'.repeat(26)}`;
  for (const token of Object.values(TOKENS)) {
    const expected = resultOf(missing, await single(service, missing, action, token));
    for (const count of [1, 6]) {
      const { body } = await settle(service, 'missing', Array(count).fill(itemOf(missing, action, token)));
      expect(body).toEqual({ results: Array(count).fill(expected) });
    }
    expect(expected).toMatchObject({ success: false, code: 'JOB_NOT_FOUND' });
  }
});

it('settle completes a job that reports progress in the same call, even on a retry', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => jobAfter(service, 'twice', ['claim', 'ack'])));
  const actions: Action[] = ['keepalive', 'progress', 'complete', 'complete', 'fail'];
  const [byCalls, few, many] = ids as [string, string, string];
  const tokens = new Map(await Promise.all(ids.map(async (id) => [id, await tokenFor(service, id, '0.0')] as const)));
  const responses: HttpResponse[] = [];
  for (const action of actions) responses.push(await single(service, byCalls, action, tokens.get(byCalls)));
  const expected = (id: string) => responses.map((response) => resultOf(id, response));
  const first = await settle(
    service,
    'twice',
    actions.slice(0, 3).map((action) => itemOf(few, action, tokens.get(few))),
  );
  const second = await settle(
    service,
    'twice',
    actions.slice(3).map((action) => itemOf(few, action, tokens.get(few))),
  );
  expect([...first.body.results, ...second.body.results]).toEqual(expected(few));
  const all = await settle(
    service,
    'twice',
    actions.map((action) => itemOf(many, action, tokens.get(many))),
  );
  expect(all.body.results).toEqual(expected(many));
  expect(expected(many).map(({ success }) => success)).toEqual([true, true, true, true, false]);
  const [trace, ...others] = await tracesOf(
    service,
    ids.map((id) => ({ id })),
  );
  expect(others).toEqual([trace, trace]);
});
