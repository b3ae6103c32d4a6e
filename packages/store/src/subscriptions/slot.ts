import calculateSlot from 'cluster-key-slot';

/** The slot of a cluster, 0 to 16 383, that a key or a sharded channel belongs to. */
export function slotOf(key: string): number {
  return calculateSlot(key);
}
