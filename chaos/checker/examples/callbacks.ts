import { callback, having, outage, stored, without } from './changes.js';
import { examplesOf } from './examples.js';
import { DONE, URL } from './story.js';

const SENT = `${DONE}, callback_sent 600`;
const LATE = `${DONE}, callback_sent 9000`;
const HUNG = `${SENT} hung`;
const FOUR = `${DONE}, callback_failed 600, callback_failed 2000, callback_failed 5000, callback_sent 9000`;
const TOO_MANY = /came 2 times, but 1 attempts are recorded/;
const again = callback(601);
const { finds, allows } = examplesOf('callbacks');
finds('a callback that never came', /never came/, SENT, without('callback'));
finds('a recorded callback that was never sent', /as sent 1 times, but came 0/, SENT, without('callback'));
finds('no attempt', /no recorded attempt/, DONE, having({ callbackUrl: URL }), callback(600));
finds('a callback of a killed job', /although it is killed/, 'killed 100 no', callback(600));
finds('a callback before the end', /before its end/, SENT, callback(400));
finds('two ids', /several ids/, SENT, callback(601, { id: 'other' }));
finds('no id', /without an id/, SENT, callback(601, { id: null }));
finds('another end', /different outcome/, SENT, callback(600, { body: { status: 'dead', result: { token: 'done' } } }));
finds('another result', /different outcome/, SENT, callback(600, { body: { status: 'completed', result: null } }));
finds('a callback that is not settled', /not settled/, SENT, stored({ isCallbackPending: true }));
finds('more attempts than allowed', /4 attempts, which are more than 3/, FOUR);
finds('a repeat', TOO_MANY, SENT, again);
finds('a repeat long after its scheduler was killed', TOO_MANY, LATE, callback(9_001), outage('scheduler', 600, 700));
finds(
  'a repeat of a stopping scheduler whose receiver responds',
  TOO_MANY,
  SENT,
  again,
  outage('hanging callbacks', 600, 700),
);
finds('a repeat to a receiver that hangs', TOO_MANY, HUNG, callback(15_600), outage('gateway', 4_000, 5_000));
allows('a callback of a dead job', 'delivered 100, acked 200, dead 500 x, callback_sent 600');
allows('a second attempt in time', `${DONE}, callback_failed 600, callback_sent 1400`);
allows('a repeat whose scheduler was killed', SENT, again, outage('scheduler', 600, 700));
allows('a repeat whose receiver hung at the stop', HUNG, callback(15_600), outage('hanging callbacks', 4_000, 5_000));
