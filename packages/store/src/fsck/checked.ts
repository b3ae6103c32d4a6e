import type { Store } from '../store.js';
import type { Fault } from './faults.js';

/** A store under repair, or one that is only looked at. */
export interface Checked {
  store: Store;
  isMending: boolean;
}

/** As the scripts take it. */
export const flagOf = ({ isMending }: Checked) => (isMending ? '1' : '0');

/** What a portion came to. */
export interface Portion {
  seen: number;
  faults: Fault[];
}
