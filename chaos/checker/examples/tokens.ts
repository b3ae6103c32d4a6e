import type { Operation } from '../history.js';
import { call, change, having, LOST, outage, REFUSED, UNKNOWN } from './changes.js';
import { examplesOf } from './examples.js';
import { both, DONE, story } from './story.js';

const RETRIED = 'delivered 100, acked 200, retried 400 no, delivered 500, acked 600';
const AGAIN = `${RETRIED}, completed 700 done`;
const TIMED_OUT =
  'delivered 100, acked 200, retried 1300 silent, delivered 1400, acked 1500, event 1600 x, completed 1700 done';
const RELEASED =
  'delivered 100, acked 200, checkpoint 250 x, released 300 stop, delivered 400, acked 500, killed 600 no';
const RETRIES = having({ maxRetries: 1 });
/** Add a repeated or late call with a token. */
const sent = (op: Operation, atMs: number, token: string, fields = {}) =>
  call(op, atMs, { token, sent: { error: 'other', reason: 'other', result: { token: 'other' } }, ...fields });

const fencing = examplesOf('fencing');
fencing.finds(
  'a completion by a worker that has lost its job',
  /complete with the token 0\.0 changed the job, but must be DELIVERY_LOST/,
  AGAIN,
  change('complete', { token: '0.0' }),
);
const reportOfBefore = change('event', { token: '0.0' });
fencing.finds('a report by such a worker', /event .* changed the job/, TIMED_OUT, RETRIES, reportOfBefore);
const secondFail = `${RETRIED}, dead 700 other`;
fencing.finds(
  'a failure that also ends the next attempt',
  /fail with the token 0\.0 changed the job, but must be unchanged/,
  secondFail,
  RETRIES,
  change('fail', { token: '0.0' }, 1),
);
fencing.finds(
  'a keepalive of such a worker that succeeds',
  /keepalive .* must be DELIVERY_LOST/,
  AGAIN,
  sent('keepalive', 650, '0.0'),
);
fencing.finds('an ack of such a worker that succeeds', /ack .* must be DELIVERY_LOST/, AGAIN, sent('ack', 550, '0.0'));
fencing.finds(
  'a lost delivery that was not lost',
  /returned 409 DELIVERY_LOST, but must be changed/,
  RETRIED,
  sent('keepalive', 650, '1.0', LOST),
);
fencing.finds(
  'a completion whose repetition is refused',
  /must be unchanged/,
  DONE,
  sent('complete', 600, '0.0', REFUSED),
);
fencing.finds(
  'a release whose repetition is refused',
  /must be unchanged/,
  RELEASED,
  sent('release', 450, '0.0', LOST),
);
fencing.finds(
  'a token that the job never had',
  /release .* must be DELIVERY_LOST/,
  RELEASED,
  sent('release', 450, '6.0'),
);
fencing.finds(
  'the token of an attempt that was released',
  /must be DELIVERY_LOST/,
  RELEASED,
  sent('keepalive', 550, '0.0'),
);
fencing.allows(
  'calls of the worker that has the job',
  DONE,
  change('ack', { token: '0.0' }),
  change('complete', { token: '0.0' }),
);
fencing.allows(
  'repeated calls',
  AGAIN,
  RETRIES,
  change('ack', { token: '0.0' }, 0),
  sent('ack', 300, '0.0'),
  sent('fail', 450, '0.0'),
  sent('fail', 650, '0.0'),
  sent('complete', 800, '1.0'),
);
fencing.allows(
  'calls of a worker that has lost its job',
  AGAIN,
  RETRIES,
  sent('keepalive', 550, '0.0', LOST),
  sent('release', 550, '0.0'),
);
fencing.allows('a refusal while no worker has the job', AGAIN, RETRIES, sent('keepalive', 450, '0.0', REFUSED));
fencing.allows(
  'either response at the time of an event',
  AGAIN,
  RETRIES,
  sent('keepalive', 499, '0.0', REFUSED),
  sent('keepalive', 499, '0.0', LOST),
);
fencing.allows(
  'a call without a response',
  AGAIN,
  RETRIES,
  sent('keepalive', 550, '0.0', UNKNOWN),
  outage('redis', 540, 560),
);
fencing.allows(
  'the token after a release',
  RELEASED,
  change('ack', { token: '0.1' }, 1),
  sent('keepalive', 550, '0.1'),
);

const NOT_DONE = { ...UNKNOWN, outcome: 'refused', mayBe: [503] } as const; // As recorded during a fault that explains every 503.
fencing.allows(
  'a 503 of a call that was not done',
  AGAIN,
  RETRIES,
  sent('keepalive', 550, '0.0', NOT_DONE),
  outage('redis', 540, 560),
);

const claimedJob = examplesOf('claimed-job');
claimedJob.allows('the checkpoint of an attempt that was released', RELEASED);

const effects = examplesOf('effects');
effects.finds(
  'a release without an event',
  /release of no returned 2xx/,
  call('release', 150, { sent: { reason: 'no' } }),
);
effects.finds('a refused release that happened', /refused, but happened/, RELEASED, change('release', REFUSED));
effects.finds(
  'a completion with a token that did not happen',
  /complete of other returned 2xx/,
  'delivered 100, acked 200',
  sent('complete', 300, '0.0'),
);
effects.finds(
  'an ack for another delivery',
  /2 acks returned 2xx, but 1 happened/,
  DONE,
  change('ack', { token: '0.0' }),
  sent('ack', 250, '0.1'),
);

const order = examplesOf('order');
const younger = story('b: created 50, delivered 500, killed 600 no');
order.finds(
  'a younger job before one that was released',
  /it was claimed before a, /,
  both(story('released 300 x, delivered 700, killed 800 no'), younger),
);
order.allows(
  'an older job that was released',
  both(story('delivered 100, released 300 x, delivered 400, killed 800 no'), younger),
);
