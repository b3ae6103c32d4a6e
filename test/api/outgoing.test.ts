import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, it } from '@jest/globals';
import { Outgoing } from '../../apps/api/src/outgoing.js';

const MB = 1_048_576;

/** A response to a client of its own, with a key of its own, that is not read. */
const unread = (key: string) =>
  Object.assign(new EventEmitter(), {
    closed: false,
    req: { headers: { 'x-api-key': key }, socket: new EventEmitter() },
  }) as unknown as ServerResponse;

it.each([
  [true, 'OVERLOADED'],
  [false, 'UNAVAILABLE'],
])('refuses a large response when too many are not read (to be sent again: %p) as %s', (changesNothing, code) => {
  const outgoing = new Outgoing();
  const first = unread('a');
  for (const response of [first, unread('b'), unread('c')]) outgoing.count(response, 42 * MB, changesNothing);
  const another = () => outgoing.count(unread('d'), 42 * MB, changesNothing);
  expect(another).toThrow(expect.objectContaining({ code }));
  outgoing.count(unread('d'), 4_096, changesNothing);
  first.emit('close');
  another();
});
