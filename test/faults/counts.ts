import { evidenceOf, type Record as Judged } from './checker.js';
import type { Call, Stream } from './history.js';
import type { Lag } from './lag.js';
import { servedAgainAfter, slowestOf } from './measures.js';
import { NOBODY } from './rules/callbacks.js';
import { isCut } from './rules/closes.js';
import { tracedOf } from './rules/effects.js';
import type { Evidence, StoredCase } from './rules/rule.js';
import { mayBeShown } from './rules/scopes.js';
import { timeOutsOf } from './rules/time-outs.js';

/** How much a run has put to the test, and how long callers waited. What was wrong is told by the violations. */
export interface Counts {
  /** Calls by the status that they were answered; `none` for no answer. */
  statuses: Record<string, number>;
  /** The longest that a call waited for its answer, and for a 503, less the test's own lateness, milliseconds. */
  slowestMs: number;
  slowest503Ms: number;
  /** From the return of Redis until the last call was sent that was not served; null where Redis was not away. */
  servedAgainMs: number | null;
  /** Creations that were answered 2xx, and how many of those jobs are gone, whether or not they may be. */
  created: number;
  createdGone: number;
  /** Times that a client was handed a job. */
  handOuts: number;
  /** Calls that leave a text of their own in the history; of those, the ones of unknown outcome, and which had happened. */
  traced: number;
  tracedUnknown: number;
  tracedUnknownDone: number;
  /** Delivery and execution windows that a scheduler closed. */
  timeOuts: number;
  /** Ended jobs that owe a callback: to somebody who heard it at least once, or to nobody who could. */
  callbacksOwed: number;
  callbacksHeard: number;
  callbacksToNobody: number;
  /** Attempts at them that are recorded. */
  callbackAttempts: number;
  /** Connections of watchers, and the messages on them that were held against histories; and those without a key. */
  streams: number;
  /** Of those, the ones that were closed before what they tell of was over. */
  streamsCut: number;
  messages: number;
  keylessMessages: number;
  /** On those without a key, messages that show what they may not, the init among them. */
  keylessWithheld: number;
}

/** Count what clients saw and what is stored. */
export function countsOf(record: Judged, lag: Lag): Counts {
  const evidence = evidenceOf(record);
  const calls = record.entries.filter((entry) => entry.kind === 'call');
  const stored = evidence.cases.filter((one): one is StoredCase => one.job !== null);
  return {
    ...ofAnswers(calls, record, lag),
    ...ofCreations(calls, record),
    handOuts: evidence.cases.reduce((sum, { handOuts }) => sum + handOuts.length, 0),
    ...ofTraces(stored),
    timeOuts: timeOutsOf(evidence).length,
    ...ofCallbacks(stored),
    ...ofStreams(evidence),
  };
}

function ofAnswers(calls: readonly Call[], { outages }: Judged, lag: Lag) {
  const statuses: Record<string, number> = {};
  for (const { status } of calls) statuses[status ?? 'none'] = (statuses[status ?? 'none'] ?? 0) + 1;
  const away = outages.filter(({ stops, hit }) => stops.includes('redis') && hit.length === 0);
  const back = away.map(({ until }) => until);
  return {
    statuses,
    slowestMs: slowestOf({ history: { calls }, lag }),
    slowest503Ms: slowestOf({ history: { calls: calls.filter(({ status }) => status === 503) }, lag }),
    servedAgainMs: back.length === 0 ? null : servedAgainAfter({ history: { calls }, lag }, Math.max(...back)),
  };
}

/** By what clients were told, in spans that may be forgotten as well. */
function ofCreations(calls: readonly Call[], { dump }: Judged) {
  const kept = new Set(dump.jobs.map(({ id }) => id));
  const created = calls.filter(({ op, outcome }) => op === 'create' && outcome === 'ok');
  return { created: created.length, createdGone: created.filter(({ jobId }) => !kept.has(jobId as string)).length };
}

function ofTraces(stored: readonly StoredCase[]) {
  const all = stored.flatMap(tracedOf);
  const unknown = all.filter(({ call }) => call.outcome === 'unknown');
  return {
    traced: all.length,
    tracedUnknown: unknown.length,
    tracedUnknownDone: unknown.filter(({ times }) => times > 0).length,
  };
}

function ofCallbacks(stored: readonly StoredCase[]) {
  const owing = stored.filter(
    ({ job }) => job.callbackUrl !== null && (job.status === 'completed' || job.status === 'dead'),
  );
  const attempts = owing.map(({ job }) => job.events.filter(({ type }) => type.startsWith('callback_')).length);
  return {
    callbacksOwed: owing.length,
    callbacksHeard: owing.filter(({ callbacks }) => callbacks.length > 0).length,
    callbacksToNobody: owing.filter(({ job }) => job.callbackUrl?.includes(NOBODY)).length,
    callbackAttempts: attempts.reduce((sum, each) => sum + each, 0),
  };
}

function ofStreams({ streams }: Evidence) {
  const told = (some: readonly Stream[]) => some.flatMap(({ messages }) => messages.slice(1)); // The init stands first.
  const keyless = streams.filter(({ scope }) => scope === 'progress');
  return {
    streams: streams.length,
    streamsCut: streams.filter(isCut).length,
    messages: told(streams).length,
    keylessMessages: told(keyless).length,
    keylessWithheld: keyless.flatMap(({ messages }) => messages).filter((message) => !mayBeShown(message)).length,
  };
}
