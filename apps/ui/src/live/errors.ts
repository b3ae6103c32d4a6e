import type { ListedJob } from '@yardmaster/protocol';
import { errorLine } from '@yardmaster/sdk/internal/error-text';

/** Dead jobs with the same error. */
export interface ErrorGroup {
  error: unknown;
  text: string;
  ids: string[];
}

/** Group dead jobs by their error, largest group first. Other jobs are ignored. */
export function errorGroupsOf(jobs: readonly ListedJob[]): ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const { id, status, error } of jobs) {
    if (status !== 'dead') continue;
    const text = errorLine(error);
    const group = groups.get(text) ?? { error, text, ids: [] };
    group.ids.push(id);
    groups.set(text, group);
  }
  return [...groups.values()].sort((a, b) => b.ids.length - a.ids.length);
}
