import calculateSlot from 'cluster-key-slot';

/** Return the slot of a cluster, 0 to 16 383, to which a key or a sharded channel belongs. */
export function slotOf(key: string): number {
  return calculateSlot(key);
}
