import { evidenceOf } from './checker.js';
import type { Run } from './fault.js';
import type { Found } from './rules/rule.js';
import { timeOutsOf } from './rules/time-outs.js';

/**
 * Look for time-outs that were met later than this, whatever was away: for a fault that somebody is left in to meet them.
 * Adds the worst to the figures.
 */
export function lateTimeOuts({ history, dump, outage, installation, figures }: Run, boundMs: number): Found[] {
  const { entries } = history;
  const evidence = evidenceOf({ entries, dump, outages: [outage], settings: installation.settings });
  const late = timeOutsOf(evidence).map(({ jobId, event, at, due }) => ({ jobId, event, byMs: at - due }));
  figures['latest time-out, ms'] = Math.max(0, ...late.map(({ byMs }) => byMs));
  return late
    .filter(({ byMs }) => byMs > boundMs)
    .map(({ jobId, event, byMs }) => ({
      promise: 'P4',
      damage: 'late',
      jobId,
      says: `${event.type} (${event.id}) came ${byMs} ms late, where ${boundMs} are allowed`,
    }));
}
