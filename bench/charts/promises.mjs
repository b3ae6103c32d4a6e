// What runs of the fault suite show of each promise: a sentence or two, and how often it was broken.
import { duration, found, most, runsOf, sum } from './fault-runs.mjs';
import { whole } from './figures.mjs';

/** A count of some runs, by its name. */
const counted = (runs, name) => whole(sum(runs, ({ counts }) => counts[name]));

/** Calls by their status, or `none`. */
const answered = (runs, status) => whole(sum(runs, ({ counts }) => counts.statuses[status]));

/** What faults have measured by themselves, by the name that they give it. */
const measured = (runs, name) => most(told(runs, name), ({ figures }) => figures[name]);
const measuredInAll = (runs, name) => whole(sum(told(runs, name), ({ figures }) => figures[name]));

/** The same of runs that may all have none of it: 0 then. */
const measuredPerhaps = (runs, name) => most(runs, ({ figures }) => figures[name]);

/** Runs that have measured something. A name that no run knows would be told as a 0, which is a good result as a rule. */
function told(runs, name) {
  const those = runs.filter(({ figures }) => figures[name] !== undefined);
  if (those.length === 0) throw new Error(`no run of ${runs.map((run) => run.name)} has the figure ${name}`);
  return those;
}

const foundOf = (runs, fields) => whole(found(runs, fields));

function created(runs) {
  const lost = found(runs, { promise: 'P1', damage: 'lost' });
  const gone = sum(runs, ({ counts }) => counts.createdGone) - lost;
  const taken = `, beside ${whole(gone)} that went with [power cuts and failovers](#what-a-power-cut-and-a-failover-take)`;
  return `${counted(runs, 'created')} jobs were created, ${whole(lost)} of them were lost${gone > 0 ? taken : ''}.`;
}

const handedOut = (runs) =>
  `${counted(runs, 'handOuts')} times a worker was handed a job, ${foundOf(runs, { promise: 'P2' })} times the attempt of another.`;

function once(runs) {
  const replies = sum(runs, ({ figures }) => figures['replies lost']);
  const tried = replies > 0 ? `The replies to ${whole(replies)} calls were lost on purpose. ` : '';
  return (
    `${tried}Of ${counted(runs, 'traced')} calls that can be found again in the history of their job, ` +
    `${counted(runs, 'tracedUnknown')} were of unknown outcome, and ${counted(runs, 'tracedUnknownDone')} of these had ` +
    `happened. Happened twice: ${foundOf(runs, { promise: 'P3', damage: 'duplicated' })}; answered 2xx, and not there: ` +
    `${foundOf(runs, { promise: 'P3', damage: 'lost' })}.`
  );
}

function timeOuts(runs) {
  const left = measuredPerhaps(runs, 'latest time-out, ms');
  const leaving =
    left > 0 ? `; where a fault leaves somebody to meet them, ${duration(left)} after its end, all counted` : '';
  return (
    `${counted(runs, 'timeOuts')} windows ran out, ${foundOf(runs, { rule: 'never-early' })} were closed early. The latest was ` +
    `closed ${duration(most(runs, ({ worstLatenessMs }) => worstLatenessMs))} after its end, without the ` +
    `time for which a fault kept Redis or a scheduler from it${leaving}.`
  );
}

function callbacks(runs) {
  const toListeners = sum(runs, ({ counts }) => counts.callbacksOwed - counts.callbacksToNobody);
  return (
    `${whole(toListeners)} callbacks were owed to somebody who listens, ${counted(runs, 'callbacksHeard')} came; ` +
    `${counted(runs, 'callbackAttempts')} attempts at them and at those to nobody are recorded.`
  );
}

const redirects = (runs) => `Runs in which receivers tried to send us elsewhere: ${whole(runs.length)}.`;

const streams = (runs) =>
  `${counted(runs, 'streams')} streams told ${counted(runs, 'messages')} events, which were held against the histories of their ` +
  `jobs: ${foundOf(runs, { rule: 'streams' })} were missing, made up, out of order or there twice. ${counted(runs, 'streamsCut')} ` +
  `streams were cut off by faults; closed for no reason, or at an end that they had not told: ${foundOf(runs, { rule: 'closes' })}.`;

const keyless = (runs) =>
  `${counted(runs, 'keylessMessages')} messages went to streams without a key, ${counted(runs, 'keylessWithheld')} with what ` +
  `those may not see.`;

const watchers = (runs) =>
  `${measuredInAll(runs, 'closed 1013')} sockets that never read were closed, and up to ${whole(measured(runs, 'open'))} were ` +
  `open at once. A gateway held ${whole(measured(runs, 'gateway MB'))} MB at most, and the slowest call of anybody took ` +
  `${duration(most(runs, ({ counts }) => counts.slowestMs))}.`;

const full = (runs) =>
  `While it was full, ${measuredInAll(runs, 'creations refused')} creations and ${measuredInAll(runs, 'logs refused')} batches of ` +
  `logs were refused, ${measuredInAll(runs, 'ended while full')} jobs ended, and ` +
  `${measuredInAll(runs, 'timed out while full')} windows were closed, the latest ` +
  `${duration(measured(runs, 'latest time-out ms'))} after its end.`;

/** What a full Redis refuses is answered 503 as well, and it is there: that is told of another promise. */
function away(all) {
  const runs = all.filter((run) => !runsOf(all, ['F15']).includes(run));
  return (
    `${answered(runs, 503)} calls were answered 503, the slowest after ` +
    `${duration(most(runs, ({ counts }) => counts.slowest503Ms))}; ${answered(runs, 'none')} lost the API that they were with. ` +
    `Once Redis was back, the last call that was not served was sent ` +
    `${duration(most(runs, ({ counts }) => counts.servedAgainMs))} later.`
  );
}

function badInput(runs) {
  const endless = most(runsOf(runs, ['F23']), ({ figures }) =>
    Math.max(...Object.entries(figures).map(([name, value]) => (name.endsWith(', ms') ? value : 0))),
  );
  const ended = endless > 0 ? `, and what never ends was taken for ${duration(endless)} at most` : '';
  return (
    `${measuredInAll(runs, 'malformed requests')} malformed requests were sent${ended}. An API held ` +
    `${whole(measured(runs, 'API MB'))} MB at most.`
  );
}

function revoked(runs) {
  const isHeard = ({ name }) => name === 'F27-heard';
  const [heard, unheard] = [runs.filter(isHeard), runs.filter((run) => !isHeard(run))];
  const last = (some, what) => duration(measured(some, `last ${what}, ms`));
  return (
    `The last call was served ${last(heard, 'call served')} after the revocation, and the last stream closed ` +
    `${last(heard, 'stream closed')} after it; where nobody heard of it, ${last(unheard, 'call served')} and ` +
    `${last(unheard, 'stream closed')}.`
  );
}

const upgrades = (runs) =>
  `${whole(sum(runs, ({ operations }) => operations))} calls were made meanwhile, ${whole(sum(runs, ({ unknown }) => unknown))} ` +
  `were not served, ${whole(sum(runs, ({ lost }) => lost))} lost, ${whole(sum(runs, ({ duplicated }) => duplicated))} happened ` +
  `twice. No process took more than ${duration(measured(runs, 'slowest exit, ms'))} to stop.`;

const agreement = (runs) =>
  `\`fsck\` and a look of the tests' own at ${whole(sum(runs, ({ jobs }) => jobs))} jobs after ${whole(runs.length)} runs found ` +
  `${foundOf(runs, { promise: 'P16' })} disagreements.`;

/** By the promise's number (test/faults/rules/rule.ts): what is said of it, and of which faults if not of all. */
const SEEN = {
  P1: { says: created },
  P2: { says: handedOut },
  P3: { says: once },
  P4: { says: timeOuts },
  P6: { says: callbacks },
  P7: { says: redirects, of: ['F24'] },
  P8: { says: streams },
  P9: { says: keyless, broken: (runs) => sum(runs, ({ counts }) => counts.keylessWithheld) },
  P10: { says: watchers, of: ['F20', 'F21'] },
  P11: { says: full, of: ['F15'] },
  P12: { says: away },
  P13: { says: badInput, of: ['F22', 'F23'] },
  P14: { says: revoked, of: ['F27'] },
  P15: { says: upgrades, of: ['F25', 'F30'] },
  P16: { says: agreement },
};

const TIMES = ['never', 'once', 'twice'];

/** Of all runs, since any may break any promise. */
const verdict = (times) => `Broken: ${TIMES[times] ?? `${whole(times)} times`}.`;

/** Half a sentence would be a wrong one, so all of its faults are needed. */
function seenIn(runs, { says, of = [] }) {
  const missing = of.filter((id) => runsOf(runs, [id]).length === 0);
  if (missing.length > 0) return `${missing.join(' and ')} had no run.`;
  return says(of.length === 0 ? runs : runsOf(runs, of));
}

const sentenceOf =
  (promise, { broken = (runs) => found(runs, { promise }), ...seen }) =>
  ({ runs }) =>
    `${seenIn(runs, seen)} ${verdict(broken(runs))}`;

export const promises = Object.fromEntries(
  Object.entries(SEEN).map(([promise, seen]) => [promise, sentenceOf(promise, seen)]),
);

/** What they are called for short. */
export const NAMES = {
  P1: 'no job is lost',
  P2: 'no attempt is handed out twice',
  P3: 'a call takes effect once',
  P4: 'time-outs come, and in time',
  P6: 'callbacks are sent',
  P7: 'callbacks stay outside',
  P8: 'streams have no holes',
  P9: 'streams show what they may',
  P10: 'watchers hurt nobody else',
  P11: 'a full Redis finishes its work',
  P12: '503 while Redis is away, and service after it',
  P13: 'bad input is refused',
  P14: 'revoked keys stop',
  P15: 'an upgrade loses nothing',
  P16: 'what is stored agrees',
};
