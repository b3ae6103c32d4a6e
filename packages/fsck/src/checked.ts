import type { Store } from '@yardmaster/store';
import type { Fault } from './faults.js';

/** A store that is repaired, or only looked at. */
export interface Checked {
  store: Store;
  isRepairing: boolean;
}

/** Return `isRepairing` as the scripts take it. */
export const flagOf = ({ isRepairing }: Checked) => (isRepairing ? '1' : '0');

/** Result of checking a portion. */
export interface Portion {
  seen: number;
  faults: Fault[];
}
