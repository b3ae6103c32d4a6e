import { callback, having, outage, stored, without } from './changes.js';
import { examplesOf } from './examples.js';
import { DONE, URL } from './story.js';

const SENT = `${DONE}, callback_sent 600`;
const LATE = `${DONE}, callback_sent 9000`;
const HUNG = `${SENT} hung`;
const FOUR = `${DONE}, callback_failed 600, callback_failed 2000, callback_failed 5000, callback_sent 9000`;
const TOO_MANY = /came 2 times, and 1 attempts are recorded/;
const again = callback(601);
const { finds, allows } = examplesOf('callbacks');
finds('a callback that never came', /never came/, SENT, without('callback'));
finds('one that was never sent', /as sent 1 times, and came 0/, SENT, without('callback'));
finds('no attempt', /no recorded attempt/, DONE, having({ callbackUrl: URL }), callback(600));
finds('one of a killed job', /and it is killed/, 'killed 100 no', callback(600));
finds('one before the end', /before its end/, SENT, callback(400));
finds('two ids', /several ids/, SENT, callback(601, { id: 'other' }));
finds('no id', /without an id/, SENT, callback(601, { id: null }));
finds('another end', /another end/, SENT, callback(600, { body: { status: 'dead', result: { token: 'done' } } }));
finds('another result', /another end/, SENT, callback(600, { body: { status: 'completed', result: null } }));
finds('one that is not settled', /not settled/, SENT, stored({ isCallbackPending: true }));
finds('more attempts than allowed', /4 attempts, which are more than 3/, FOUR);
finds('one that is repeated', TOO_MANY, SENT, again);
finds('one long after its scheduler was killed', TOO_MANY, LATE, callback(9_001), outage('scheduler', 600, 700));
finds(
  'one of a stopping scheduler whose receiver responds',
  TOO_MANY,
  SENT,
  again,
  outage('hanging callbacks', 600, 700),
);
finds('one to a receiver that hangs', TOO_MANY, HUNG, callback(15_600), outage('gateway', 4_000, 5_000));
allows('one of a dead job', 'delivered 100, acked 200, dead 500 x, callback_sent 600');
allows('a second attempt in time', `${DONE}, callback_failed 600, callback_sent 1400`);
allows('one that is repeated as its scheduler was killed', SENT, again, outage('scheduler', 600, 700));
allows('one to a receiver that hung at the stop', HUNG, callback(15_600), outage('hanging callbacks', 4_000, 5_000));
