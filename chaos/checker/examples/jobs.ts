import type { Record } from '../checker.js';
import * as changes from './changes.js';
import { examplesOf } from './examples.js';
import { both, DONE, START, story, TWICE } from './story.js';

const { call, change, gone, having, logged, lost, OVERLOADED, outage, poll, REFUSED, stored, UNKNOWN, without } =
  changes;
const KILLED = 'killed 100 no';
const RETRIED =
  'delivered 100, acked 200, checkpoint 300 x, retried 400 x, delivered 500, acked 510, completed 600 done';
const SENT = { sent: { token: 'x' } };
const BRIEF = outage('redis', 290, 310);
const AT_FIRST = outage('redis', 0, 10);

const creates = examplesOf('creates');
const another = story('b: killed 100 no', having({ payload: { n: 'a' } }), without('create'));
creates.finds('a created job that is gone', /is not stored/, gone);
creates.finds('a job that no client asked for', /no client asked/, KILLED, without('create'));
creates.finds('two jobs of one create', /1 creates made 2 jobs/, both(story(KILLED, lost('create')), another));
creates.finds('another payload than was created', /its payload/, KILLED, stored({ payload: { n: 1 } }));
creates.allows('a job whose create has no response', KILLED, lost('create'), AT_FIRST);
creates.allows('no job after a create without a response', '', lost('create'), gone, AT_FIRST);

const keyed = (atMs: number, fields = {}) =>
  call('create', atMs, { idempotencyKey: 'k', status: 201, sent: { payload: { n: 'a' } }, ...fields });
const sentAgain = change('create', { idempotencyKey: 'k', sent: { payload: { n: 'a' } } });
const mismatch = { ...REFUSED, code: 'IDEMPOTENCY_MISMATCH' };
const first = change('create', { idempotencyKey: 'k' });
creates.finds('a repeated create that made another job', /made b/, '', first, keyed(9, { jobId: 'b' }));
creates.finds('a repeated create that was refused', /the same create was refused/, '', first, keyed(9, mismatch));
creates.finds(
  'a create of unknown outcome that made another job',
  /2 creates made 2 jobs/,
  both(story(KILLED, first, lost('create')), story('b: killed 100 no', having({ payload: { n: 'a' } }), sentAgain)),
);
creates.allows('a repeated create', KILLED, first, keyed(9));

const uniques = examplesOf('uniques');
const UNIQUE = having({ unique: { key: 'x' } });
const uniqueUntil = (until: 'started') => having({ unique: { key: 'x', until } });
const LATER = 'b: created 450, killed 900 no';
const asked = { payload: { n: 'a' }, unique: { key: 'x', onConflict: 'replace' } };
const replacing = call('create', 50, { sent: asked, body: { payload: { n: 'a' } } });
uniques.finds(
  'two jobs with one unique key',
  /while a had its unique key/,
  both(story(DONE, UNIQUE), story(LATER, UNIQUE)),
);
uniques.finds('a replacement that is gone', /1 requests replaced its own, but 0/, KILLED, replacing);
uniques.allows('another job after the end', both(story('killed 100 no', UNIQUE), story(LATER, UNIQUE)));
uniques.allows(
  'another job after the start',
  both(story(DONE, uniqueUntil('started')), story(LATER, uniqueUntil('started'))),
);
uniques.allows('a replacement', 'replaced 51, killed 100 no', replacing);
uniques.allows('a repeated replacement', 'replaced 51, killed 100 no', replacing, replacing);
uniques.allows(
  'the job of another create',
  DONE,
  call('create', 50, { sent: { payload: { n: 'b' } }, body: { payload: { n: 'a' } } }),
);

const claims = examplesOf('claims');
claims.finds('one delivery that two clients got', /delivered 1 times and claimed 2/, poll(98));
claims.allows('an attempt that is claimed again after its window', `${TWICE}, killed 2300 no`);

const claimedJob = examplesOf('claimed-job');
const stale = poll(499, { attemptNumber: 1, maxRetries: 1, checkpoint: null });
const named = (...types: string[]) => change('poll', { sent: { count: 1, types } });
claimedJob.finds('an old checkpoint', /attempt 1 has another checkpoint/, RETRIED, stale);
claimedJob.finds('another payload', /another payload/, poll(99, { payload: {} }));
claimedJob.finds('a name that the poll did not ask for', /poll for crop/, named('crop'));
claimedJob.finds('a job of another space', /in elsewhere/, change('poll', { spaceId: 'elsewhere' }));
claimedJob.allows('the latest checkpoint', RETRIED, having({ maxRetries: 1 }), named('work', 'crop'));

const order = examplesOf('order');
const YOUNGER = 'b: created 10, delivered 50, killed 90 no';
const YOUNGER_TWICE = 'b: created 10, delivered 50, delivery_timeout 2051, delivered 2200, killed 2300 no';
const otherName = story('killed 500 no', having({ name: 'crop' }));
const firstNamed = change('poll', { sent: { count: 1, types: ['work'] } }, 0);
const claimed = (record: Record) => {
  const [job] = record.dump.jobs;
  return change('poll', { op: 'claim', jobId: 'b', body: { claimed: true, job: { ...job, checkpoint: null } } })(
    record,
  );
};
const waits = story('b: created 10, killed 2400 no');
order.finds('a job that is claimed before an older one', /before a, /, both(story(DONE), story(YOUNGER)));
order.allows('an older job of another name', both(otherName, story(YOUNGER_TWICE, firstNamed)));
order.allows('a claim by id', both(story(DONE), story(YOUNGER, claimed)));
order.allows('a job that returns to its place', both(story(`${TWICE}, killed 2300 no`), waits));

// The tests of `replay` check all other faults of a history.
const histories = examplesOf('histories');
const SILENT = 'delivered 100, acked 200, dead 1300 silent';
histories.finds('an end after the end', /killed \(a\.5\) happened while/, `${DONE}, killed 600 x`);
histories.finds('another record', /attemptNumber is 0/, stored({ attemptNumber: 0 }));
histories.finds('another result', /result is/, stored({ result: { token: 'other' } }));
histories.finds('a window cut short', /dead \(a\.4\) came/, SILENT, call('keepalive', 900));
const EARLY = `${DONE}, callback_failed 600, callback_sent 1300`;
histories.finds('an early retry', /ms too soon/, EARLY, outage('scheduler', 600, 700));
histories.finds('another error', /error is/, SILENT, stored({ error: 'other' }));
histories.allows('a window that is over', SILENT);
histories.allows('an early retry as the clock steps', EARLY, outage('clock', 600, 700));
histories.allows('a keepalive that was refused', SILENT, call('keepalive', 900, REFUSED));
histories.allows('a redelivery', `${DONE}, callback_sent 600, callback_sent 700`, call('redeliver', 650));

const effects = examplesOf('effects');
const REPORTED = 'delivered 100, acked 200, event 300 x, completed 500 done';
const REPEATED = 'delivered 100, acked 200, event 300 x, event 301 x, completed 500 done';
effects.finds('a report without an event', /event of x returned 2xx/, call('event', 300, SENT));
effects.finds('a kill without an event', /kill of no returned 2xx/, call('kill', 99, { sent: { reason: 'no' } }));
effects.finds('a report that happened twice', /happened 2 times/, REPEATED, lost('event'));
effects.finds('a refused call that happened', /refused, but happened/, KILLED, change('kill', REFUSED));
effects.finds(
  'a call refused as overloaded that happened',
  /refused, but happened/,
  KILLED,
  change('kill', OVERLOADED),
);
effects.finds('an effect without a call', /no client asked for kill/, KILLED, without('kill'));
effects.finds('an ack without an event', /2 acks returned 2xx, but 1 happened/, call('ack', 201));
effects.finds('an ack that no client sent', /1 acks happened, but 0 were sent/, without('ack'));
const AT_ONCE = 'delivered 100, acked 100, dead 1200 silent';
const WAITED = 'delivered 100, acked 200, dead 1300 silent';
effects.finds('an ack at once that no poll made', /1 acks happened/, AT_ONCE, without('ack'));
effects.finds(
  'an ack after a lost poll',
  /1 acks happened/,
  WAITED,
  without('ack'),
  lost('poll'),
  outage('redis', 90, 110),
);
effects.allows(
  'an ack by a poll whose response was lost',
  AT_ONCE,
  without('ack'),
  lost('poll'),
  outage('redis', 90, 110),
);
effects.allows('a call of unknown outcome that happened', REPORTED, lost('event'), BRIEF);
effects.allows('one that did not happen', call('event', 299, { ...SENT, ...UNKNOWN }), BRIEF);
effects.allows('a refused completion', call('complete', 510, { ...REFUSED, sent: { result: { token: 'other' } } }));
effects.allows('a second kill', KILLED, call('kill', 101, { sent: { reason: 'again' } }));

const logs = examplesOf('logs');
const logging = (fields = {}) => call('logs', 300, { sent: ['x 1', 'x 2'], body: { fromSeq: 1, toSeq: 2 }, ...fields });
const oneMore = call('logs', 310, { sent: ['y'], body: { fromSeq: 3 } });
logs.finds('a batch that is gone', /are gone/, logging());
logs.finds('half a batch', /in part/, logged('x 1'), logging(UNKNOWN));
logs.finds('a gap', /log 3 is at position 2/, logged('x 1', null, 'x 2'), logging(UNKNOWN));
logs.finds('a batch that is stored twice', /twice/, logged('x 1', 'x 2', 'x 1', 'x 2'), logging());
logs.finds('a stored batch that was refused', /were refused/, logged('x 1', 'x 2'), logging(REFUSED));
logs.finds('a batch in another place', /elsewhere/, logged('x 0', 'x 1', 'x 2'), logging());
logs.finds('entries that no client sent', /1 log entries that no client sent/, logged('x'));
logs.allows('several batches', logged('x 1', 'x 2', 'y'), logging(), oneMore);

const fsck = examplesOf('fsck');
fsck.finds('a disagreement', /missing: x/, { ...story(''), dump: { at: START, jobs: [], fsck: ['missing: x'] } });
fsck.allows('a Redis without disagreements');
