import type { Operation } from '@yardmaster/protocol';

/** Return the path of an operation, below /api/v1. */
export const operationPath = (operationId: string) => `operations/${encodeURIComponent(operationId)}`;

/** Format the status and the counts of an operation. */
export function countsOf({ status, dryRun, looked, changed, skipped, left }: Operation): string {
  const counts = `${changed} ${dryRun ? 'would be changed' : 'changed'}, ${skipped} skipped, ${looked} examined`;
  return `${status}: ${counts}${left > 0 ? `, ${left} not examined` : ''}`;
}
