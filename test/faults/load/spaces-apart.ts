import { partitionOf } from '@yardmaster/store';
import { SPACES } from './plan.js';

/** Name spaces, each in a partition of its own that none of the load is in: what happens there happens to its job alone. */
export function spacesApart(count: number): string[] {
  const taken = new Set(SPACES.map(partitionOf));
  const spaces: string[] = [];
  for (let n = 0; spaces.length < count; n++) {
    const space = `apart-${n}`;
    if (taken.has(partitionOf(space))) continue;
    taken.add(partitionOf(space));
    spaces.push(space);
  }
  return spaces;
}
