import type { EventType, JobEvent, LogEntry } from '@yardmaster/protocol';
import type { DumpedJob } from '../checker/dump.js';
import type { Body, Call, Operation } from '../checker/history.js';
import { isFenced, outcomeAfter, outcomesOf } from './attempts.js';
import { deliveriesNobodyGot } from './deliveries.js';
import { type Finding, linesOf, ruleForEachJob, type StoredCase } from './rule.js';
import { isNotStarted, isTimeout } from './timeouts.js';

/** The event that a call causes, and where call and event contain the unique text of the call. */
interface Trace {
  types: readonly EventType[];
  ofCall(sent: Body): unknown;
  ofEvent(data: Body): unknown;
}

const tokenOf = (data: Body) => data?.token;

/** How to find the effects of calls with a unique text. */
export const TRACES: Partial<Record<Operation, Trace>> = {
  progress: { types: ['progress'], ofCall: (sent) => sent?.message, ofEvent: (data) => data?.message },
  checkpoint: { types: ['checkpoint'], ofCall: tokenOf, ofEvent: tokenOf },
  event: { types: ['event'], ofCall: tokenOf, ofEvent: tokenOf },
  complete: { types: ['completed'], ofCall: (sent) => sent?.result?.token, ofEvent: tokenOf },
  fail: { types: ['retried', 'dead'], ofCall: (sent) => sent?.error, ofEvent: (data) => data?.error },
  release: { types: ['released'], ofCall: (sent) => sent?.reason, ofEvent: (data) => data?.reason },
  kill: { types: ['killed'], ofCall: (sent) => sent?.reason, ofEvent: (data) => data?.reason },
};

/**
 * A call with a 2xx response takes effect once. A refused call takes no effect, and neither does one with 503 `OVERLOADED`. A
 * call with an unknown outcome takes effect at most once. Nothing happens that no client asked for (P3).
 */
export const effects = ruleForEachJob('effects', 'P3', (one) => [
  ...Object.entries(TRACES).flatMap(([op, trace]) => ofOperation(one, op as Operation, trace)),
  ...ofAcks(one),
]);

function ofOperation({ job, calls }: StoredCase, op: Operation, trace: Trace): Finding[] {
  const happened = new Map<unknown, number>();
  for (const event of job.events) {
    const token = trace.ofEvent(event.data);
    if (trace.types.includes(event.type) && !isTimeout(event)) happened.set(token, (happened.get(token) ?? 0) + 1);
  }
  const ofCalls = calls
    .filter((call) => call.op === op)
    .flatMap((call) => {
      const token = trace.ofCall(call.sent);
      const times = happened.get(token) ?? 0;
      happened.delete(token);
      return faultOf(call, times, job).map((found) => ({ ...found, says: `${op} of ${token} ${found.says}` }));
    });
  return [...ofCalls, ...[...happened.keys()].map((token) => ({ says: `no client asked for ${op} of ${token}` }))];
}

function faultOf(call: Call, times: number, job: DumpedJob): Finding[] {
  const { op, outcome, line } = call;
  const lines = [line];
  if (times > 1) return [{ damage: 'duplicated', says: `happened ${times} times`, lines }];
  if (times === 1 && (outcome === 'refused' || outcome === 'not now'))
    return [{ says: 'was refused, but happened', lines }];
  const isRepeatedKill = op === 'kill' && job.status === 'killed'; // It succeeds, but adds no event.
  const isTooLate = op === 'release' && job.events.some(isNotStarted); // The job died of its start limit instead.
  if (times === 1 || outcome !== 'ok' || isRepeatedKill || isTooLate) return [];
  if (isFenced(call) && outcomesOf(job, call).has('unchanged')) return [];
  return [{ damage: 'lost', says: 'returned 2xx, but is not in the history', lines }];
}

/**
 * Report a wrong number of acks. They can only be counted, because an ack has no unique text. With a token, an ack may be
 * retried. A poll with autoAck whose response was lost has acked jobs that no client knows of.
 */
function ofAcks(one: StoredCase): Finding[] {
  const { job, calls } = one;
  const asked = calls.filter(({ op, outcome }) => op === 'ack' && (outcome === 'ok' || outcome === 'unknown'));
  const succeeded = asked.filter(({ outcome }) => outcome === 'ok');
  const sure = new Set(succeeded.map(({ token, line }) => token ?? line)).size;
  const happened = job.events.filter(({ type }) => type === 'acked').length;
  const lines = linesOf(asked);
  if (sure > happened) return [{ damage: 'lost', says: `${sure} acks returned 2xx, but ${happened} happened`, lines }];
  const unseen = new Set(deliveriesNobodyGot(one));
  const byPolls = job.events.filter(
    ({ type, createdAt }, i) =>
      type === 'acked' && job.events[i - 1]?.createdAt === createdAt && unseen.has(Date.parse(createdAt)),
  ).length;
  if (happened <= asked.length + byPolls) return [];
  return [{ damage: 'duplicated', says: `${happened} acks happened, but ${asked.length} were sent`, lines }];
}

/**
 * A worker that lost its job changes nothing (P17): a call with a delivery token takes effect only while its delivery holds the
 * job, and the history allows its response. A retried call therefore has one effect in total.
 */
export const fencing = ruleForEachJob('fencing', 'P17', ({ job, calls }) =>
  calls.filter(isFenced).flatMap((call): Finding[] => {
    const { op, token, outcome, status, code, line } = call;
    const what = `${op} with the token ${token}`;
    const possible = outcomesOf(job, call);
    const trace = TRACES[op];
    const effectAt = trace ? job.events.findIndex((event) => isEffect(trace, event, call)) : -1;
    const before = effectAt < 0 ? 'changed' : outcomeAfter(job, effectAt - 1, call);
    const isJudged = outcome !== 'unknown' && status !== null && status < 500; // A 503 reveals nothing about the job.
    const isRight = outcome === 'ok' ? possible.has('changed') || possible.has('unchanged') : possible.has(code ?? '');
    return [
      ...(before === 'changed' ? [] : [{ says: `${what} changed the job, but must be ${before}`, lines: [line] }]),
      ...(isRight || !isJudged
        ? []
        : [{ says: `${what} returned ${status} ${code}, but must be ${[...possible].join(' or ')}`, lines: [line] }]),
    ];
  }),
);

/** Check whether an event is the effect of a call, by the unique text of the call. */
export const isEffect = ({ types, ofCall, ofEvent }: Trace, { type, data }: JobEvent, { sent }: Call) =>
  types.includes(type) && ofCall(sent) !== undefined && ofEvent(data) === ofCall(sent);

/** Logs have consecutive seqs. A batch is stored completely, once, and at the seqs in its response, or not at all (P3). */
export const logs = ruleForEachJob('logs', 'P3', ({ job, calls }) => {
  const found: Finding[] = [];
  const gap = job.logs.findIndex(({ seq }, i) => seq !== i + 1);
  if (gap >= 0) found.push({ says: `log ${job.logs[gap]?.seq} is at position ${gap + 1}` });
  const batches = calls.filter(({ op }) => op === 'logs');
  const sent = new Set<string>(batches.flatMap((call) => call.sent));
  const unasked = job.logs.filter(({ message }) => !sent.has(message)).length;
  if (unasked > 0) found.push({ says: `${unasked} log entries that no client sent` });
  return [...found, ...batches.flatMap((call) => ofBatch(call, job.logs))];
});

function ofBatch({ sent, line, outcome, body }: Call, entries: readonly LogEntry[]): Finding[] {
  const stored = entries.filter(({ message }) => sent.includes(message));
  const found = (says: string, damage: 'lost' | 'duplicated' | 'other' = 'other') => [
    { damage, says: `its logs ${sent[0]} … ${says}`, lines: [line] },
  ];
  if (stored.length === 0) return outcome === 'ok' ? found('are gone', 'lost') : [];
  if (outcome === 'refused' || outcome === 'not now') return found('were refused, but are stored');
  if (stored.length > sent.length) return found('are stored twice', 'duplicated');
  const from = stored[0]?.seq as number;
  const isWhole = sent.every((text: string, i: number) => stored[i]?.message === text && stored[i]?.seq === from + i);
  if (!isWhole) return found('are stored in part, or not together', 'lost');
  return outcome === 'ok' && body.fromSeq !== from ? found('are elsewhere') : [];
}
