import type { Run } from './fault.js';
import { isCut } from './rules/closes.js';
import type { Found } from './rules/rule.js';

/**
 * Look for streams that were closed with another code than this. Adds to the figures how many were closed with it, and it
 * is a fault that hit nothing when there are none.
 */
export function otherEnds({ history, figures }: Run, code: number): Found[] {
  const cut = history.entries.filter((entry) => entry.kind === 'stream').filter(isCut);
  const others = cut.filter(({ closed }) => closed !== code);
  const asTold = cut.length - others.length;
  figures[`streams closed ${code}`] = asTold;
  return [
    ...(asTold > 0 ? [] : [{ promise: 'P8' as const, jobId: null, says: `no stream was closed with ${code}` }]),
    ...others.map(({ jobId, client, closed, line }) => ({
      promise: 'P8' as const,
      jobId,
      says: `stream of ${client} was closed with ${closed}, where ${code} was to come`,
      lines: [line],
    })),
  ];
}
