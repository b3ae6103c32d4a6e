import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { ResponseBudget } from '../../apps/api/src/limits/response-budget.js';

const MB = 1_048_576;

/** Create a response that is not read, with a client and a key of its own. */
const unread = (key: string, headers: Record<string, string> = { 'x-api-key': key }) =>
  Object.assign(new EventEmitter(), {
    closed: false,
    req: { headers, socket: new EventEmitter() },
  }) as unknown as ServerResponse;

it.each([
  [true, 'OVERLOADED'],
  [false, 'UNAVAILABLE'],
])('refuses a large response when too many bytes are unread (changes nothing: %p) as %s', (changesNothing, code) => {
  const responseBudget = new ResponseBudget();
  const first = unread('a');
  for (const response of [first, unread('b'), unread('c')]) responseBudget.acquire(response, 42 * MB, changesNothing);
  const another = () => responseBudget.acquire(unread('d'), 42 * MB, changesNothing);
  expect(another).toThrow(expect.objectContaining({ code }));
  responseBudget.acquire(unread('d'), 4_096, changesNothing);
  first.emit('close');
  another();
});

it('counts a response to a Bearer token together with those to the same key in x-api-key', () => {
  const responseBudget = new ResponseBudget();
  const bearer = (key: string) => unread(key, { authorization: `Bearer ${key}` });
  responseBudget.acquire(unread('a'), 42 * MB, true);
  responseBudget.acquire(bearer('b'), 42 * MB, true);
  const another = () => responseBudget.acquire(bearer('a'), 42 * MB, true);
  expect(another).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
});
