import { CALLBACK_LEASE_MS } from '@yardmaster/store';
import type { Run } from './fault.js';
import type { Callback } from './history.js';
import type { Found } from './rules/rule.js';

/** From the moment at which an attempt is given to a scheduler to that of its POST. */
const ON_THE_WAY_MS = 2_000;

/**
 * Look for callbacks that were sent while an attempt was somebody else's: the outcome of the one before was not recorded
 * yet, nor was its lease over (P6).
 */
export function sentAtOnce({ history, dump }: Run): Found[] {
  const all = history.entries.filter((entry) => entry.kind === 'callback').sort((a, b) => a.at - b.at);
  const latest = new Map<string, Callback>();
  const found: Found[] = [];
  for (const callback of all) {
    const { jobId, at, line } = callback;
    const before = latest.get(jobId);
    latest.set(jobId, callback);
    if (before === undefined || at - before.at > CALLBACK_LEASE_MS - ON_THE_WAY_MS) continue;
    const events = dump.jobs.find(({ id }) => id === jobId)?.events ?? [];
    const isRecorded = events.some(
      ({ type, createdAt }) =>
        type.startsWith('callback_') && Date.parse(createdAt) >= before.at && Date.parse(createdAt) <= at,
    );
    if (isRecorded) continue;
    const says = `its callback was sent again after ${at - before.at} ms, while an attempt was under way`;
    found.push({ promise: 'P6', damage: 'duplicated', jobId, says, lines: [before.line, line] });
  }
  return found;
}
