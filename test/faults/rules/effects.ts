import type { EventType } from '@yardmaster/protocol';
import type { DumpedJob } from '../dump.js';
import type { Call, Operation } from '../history.js';
import { linesOf, ruleForEachJob, type Said, type StoredCase } from './rule.js';
import { isTimeOut } from './time-outs.js';

/** What a call leaves in the history, and where in it the text is that only this call has sent. */
interface Trace {
  types: readonly EventType[];
  ofCall(sent: Call['sent']): unknown;
  ofEvent(data: Call['body']): unknown;
}

const TRACES: Partial<Record<Operation, Trace>> = {
  progress: { types: ['progress'], ofCall: (sent) => sent?.message, ofEvent: (data) => data?.message },
  checkpoint: { types: ['checkpoint'], ofCall: (sent) => sent?.token, ofEvent: (data) => data?.token },
  event: { types: ['event'], ofCall: (sent) => sent?.token, ofEvent: (data) => data?.token },
  complete: { types: ['completed'], ofCall: (sent) => sent?.result?.token, ofEvent: (data) => data?.token },
  fail: { types: ['retried', 'dead'], ofCall: (sent) => sent?.error, ofEvent: (data) => data?.error },
  kill: { types: ['killed'], ofCall: (sent) => sent?.reason, ofEvent: (data) => data?.reason },
};

/**
 * A call that was answered 2xx has happened once, one that was refused not at all, one of unknown outcome once or not
 * at all; and nothing has happened that nobody asked for (P3).
 */
export const effects = ruleForEachJob('effects', 'P3', (one) => [
  ...Object.entries(TRACES).flatMap(([op, trace]) => ofOperation(one, op as Operation, trace)),
  ...ofAcks(one),
]);

/** A call that leaves a trace, and how often it is there. */
interface Traced {
  call: Call;
  token: unknown;
  times: number;
}

/** All of a job's calls that leave one. */
export const tracedOf = (one: StoredCase): Traced[] =>
  Object.entries(TRACES).flatMap(([op, trace]) => traced(one, op as Operation, trace).calls);

/** Calls of one kind, and the texts in the history that are of none of them. */
function traced({ job, calls }: StoredCase, op: Operation, trace: Trace): { calls: Traced[]; strange: unknown[] } {
  const happened = new Map<unknown, number>();
  for (const event of job.events) {
    const token = trace.ofEvent(event.data);
    if (trace.types.includes(event.type) && !isTimeOut(event)) happened.set(token, (happened.get(token) ?? 0) + 1);
  }
  const found = calls
    .filter((call) => call.op === op)
    .map((call) => {
      const token = trace.ofCall(call.sent);
      const times = happened.get(token) ?? 0;
      happened.delete(token);
      return { call, token, times };
    });
  return { calls: found, strange: [...happened.keys()] };
}

function ofOperation(one: StoredCase, op: Operation, trace: Trace): Said[] {
  const { calls, strange } = traced(one, op, trace);
  return [
    ...calls.flatMap(({ call, token, times }) =>
      faultOf(call, times, one.job).map((said) => ({ ...said, says: `${op} of ${token} ${said.says}` })),
    ),
    ...strange.map((token) => ({ says: `${op} of ${token} happened, and nobody asked for it` })),
  ];
}

function faultOf({ op, outcome, line }: Call, times: number, job: DumpedJob): Said[] {
  const lines = [line];
  if (times > 1) return [{ damage: 'duplicated', says: `happened ${times} times`, lines }];
  if (times === 1 && outcome === 'refused') return [{ says: 'was refused, and happened', lines }];
  if (times === 1 || outcome !== 'ok' || isRepeatedKill(op, job)) return [];
  return [{ damage: 'lost', says: 'was answered 2xx, and is not in the history', lines }];
}

/** To kill a killed job succeeds, and leaves no trace. */
const isRepeatedKill = (op: Operation, { status }: DumpedJob) => op === 'kill' && status === 'killed';

/** An ack has no text of its own. */
function ofAcks({ job, calls }: StoredCase): Said[] {
  const asked = calls.filter(({ op, outcome }) => op === 'ack' && outcome !== 'refused');
  const sure = asked.filter(({ outcome }) => outcome === 'ok').length;
  const happened = job.events.filter(({ type }) => type === 'acked').length;
  const lines = linesOf(asked);
  if (sure > happened) return [{ damage: 'lost', says: `${sure} acks were answered 2xx, ${happened} happened`, lines }];
  if (happened <= asked.length) return [];
  return [{ damage: 'duplicated', says: `${happened} acks happened, ${asked.length} were asked for`, lines }];
}
