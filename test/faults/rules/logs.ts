import type { LogEntry } from '@yardmaster/protocol';
import type { Call } from '../history.js';
import { ruleForEachJob, type Said } from './rule.js';

/** Logs have dense seqs, and a batch is there as a whole, once, where its answer says, or not at all (P3). */
export const logs = ruleForEachJob('logs', 'P3', ({ job, calls }) => {
  const found: Said[] = [];
  const gap = job.logs.findIndex(({ seq }, i) => seq !== i + 1);
  if (gap >= 0) found.push({ says: `log ${job.logs[gap]?.seq} is in place ${gap + 1}` });
  const unclaimed = new Set(job.logs);
  for (const call of calls) if (call.op === 'logs') found.push(...ofBatch(call, job.logs, unclaimed));
  if (unclaimed.size > 0) found.push({ says: `${unclaimed.size} log entries that nobody sent` });
  return found;
});

function ofBatch(call: Call, entries: readonly LogEntry[], unclaimed: Set<LogEntry>): Said[] {
  const sent: string[] = call.sent;
  const stored = entries.filter(({ message }) => sent.includes(message));
  for (const entry of stored) unclaimed.delete(entry);
  const lines = [call.line];
  if (stored.length === 0) {
    return call.outcome === 'ok' ? [{ damage: 'lost', says: `its logs ${sent[0]} … are gone`, lines }] : [];
  }
  if (call.outcome === 'refused') return [{ says: `its logs ${sent[0]} … were refused, and are there`, lines }];
  if (stored.length > sent.length)
    return [{ damage: 'duplicated', says: `its logs ${sent[0]} … are there twice`, lines }];
  const from = stored[0]?.seq as number;
  const isWhole = sent.every((message, i) => stored[i]?.message === message && stored[i]?.seq === from + i);
  if (!isWhole) return [{ damage: 'lost', says: `its logs ${sent[0]} … are there in part, or apart`, lines }];
  if (call.outcome === 'ok' && call.body.fromSeq !== from)
    return [{ says: `its logs ${sent[0]} … are elsewhere`, lines }];
  return [];
}
