import type { Store } from '@yardmaster/store';
import type { RedisSlot } from './redis-queue.js';

/** How many milliseconds before the limit a long read ends as OVERLOADED, so that it does not end as UNAVAILABLE. */
const RESPOND_BEFORE_MS = 200;

/** Return a store whose long reads release their slot at Redis while they wait for a read slot, and end in time. */
export const withReadSlots = (store: Store, { release, endsAt }: RedisSlot): Store => {
  const releasing =
    (withReadSlot: Store['withReadSlot']): Store['withReadSlot'] =>
    (owner, work) => {
      release();
      return withReadSlot(owner, work, endsAt - RESPOND_BEFORE_MS);
    };
  return { ...store, withReadSlot: releasing(store.withReadSlot), withSearchSlot: releasing(store.withSearchSlot) };
};
