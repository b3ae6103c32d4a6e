import { gone, init, keyless, outage, stream } from './changes.js';
import { examplesOf } from './examples.js';
import { DONE, START, story } from './story.js';

const SPACE = { scope: 'space', jobId: null, spaceId: 'yard', closed: null } as const;
/** Create a stream with these messages that is still open. */
const open = (...messages: object[]) => stream([], { closed: null, messages });
const appended = (fromSeq: number, toSeq: number) => keyless('logs_appended', { data: { fromSeq, toSeq } });

const streams = examplesOf('streams');
const stale = stream([2, 3], {}, init('pending', 150));
const noMessages = { ...story('', gone), entries: story(DONE, open()).entries.slice(-1) };
streams.finds('a gap', /it sent completed .* where acked/, stream([1, 3]));
streams.finds('an event twice', /it sent delivered .* after delivered/, stream([1, 1, 2, 3]));
streams.finds('an event that only keys may see', /which never happened/, stream([1, 3], { scope: 'progress' }));
streams.finds('an old snapshot', /began with pending, where the job was delivered/, stale);
streams.finds('an end that is missing', /did not send completed/, stream([1, 2], { closed: null }));
streams.finds('a job that is missing', /did not send created/, stream([], SPACE, init('', -1)));
streams.finds('another beginning', /began with killed/, open(keyless('killed')));
streams.finds('a strange job', /a job that is not its own/, open(init(), { ...keyless('killed'), jobId: 'c' }));
streams.finds('no messages', /got no message/, open());
streams.finds('a gap in logs', /logs from 4 after 2/, open(init('', 600), appended(1, 2), appended(4, 4)));
streams.allows('a stream that begins late', stream([3], {}, init('running', 200)));
streams.allows('all events of a space', stream([0, 1, 2, 3], SPACE));
streams.allows('no messages about a job that is gone', noMessages);

const scopes = examplesOf('scopes');
const shown = (...messages: object[]) => stream([], { scope: 'progress', messages });
const begun = keyless('init', { progress: { percent: 1 } });
scopes.finds('a status', /init with jobId,type,timestamp,status/, shown(keyless('init', { status: 'x' })));
scopes.finds('a result', /completed with .*data/, shown(begun, keyless('completed', { data: 1 })));
scopes.finds('a checkpoint', /checkpoint with/, shown(begun, keyless('checkpoint')));
scopes.finds('a callback', /callback_sent with/, shown(begun, keyless('callback_sent')));
scopes.allows('progress, and completion', shown(begun, keyless('completed')));

const closes = examplesOf('closes');
const NO_REASON = /with 10\d\d, without a reason/;
const cut = (closed: number, until = 5_000) => stream([1], { closed, until: START + until });
const closing = { closes: [1012] };
const lateEnd = stream([1, 2, 3], { closed: null, until: START + 11_000 });
closes.finds('a cut without a fault', NO_REASON, cut(1006));
closes.finds('another code', NO_REASON, cut(1001), outage('redis', 4_000, 6_000));
closes.finds('an end of a job that has not ended', /closed as if its job had ended/, '', stream([]));
closes.finds('an end of a space', /as if it could end/, stream([0, 1, 2, 3], { ...SPACE, closed: 1000 }));
closes.finds('an end that was not sent', /had not reported it/, stream([1, 2]));
closes.finds('a completion that was not sent without a key', /had not reported it/, shown(keyless('init')));
closes.finds(
  'a cut while other processes lack Redis',
  NO_REASON,
  cut(1012),
  outage('redis', 4_000, 6_000, 'gateway-11'),
);
closes.finds('a stream that stays open', /still open long after the end/, lateEnd);
const hidden = (until: number) =>
  stream([], { scope: 'progress', messages: [keyless('init')], closed: null, until: START + until });
closes.finds('a hidden end that never happens', /still open long after the end/, 'killed 100 no', hidden(65_101));
closes.allows('a stream that stays open, so that it does not show the end', 'killed 100 no', hidden(65_100));
closes.finds('a late cut', NO_REASON, cut(1012, 9_000), outage('redis', 0, 3_900));
closes.finds('a cut after a fault that closes streams', NO_REASON, cut(1012), outage(closing, 0, 3_900));
closes.allows('a cut when the gateway stops', cut(1006), outage('gateway', 4_000, 6_000));
closes.allows('a cut without Redis', cut(1012), outage('redis', 1_000, 2_000, 'gateway-1'));
closes.allows('an end that the stream must hide', 'killed 100 no', shown(keyless('init')));
closes.allows('a cut by a fault that closes streams', cut(1012), outage(closing, 4_000, 4_500));
