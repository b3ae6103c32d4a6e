import { signal } from '@preact/signals';

/** Ids of the selected jobs of the list. */
export const selected = signal<ReadonlySet<string>>(new Set());

export function select(ids: readonly string[], isSelected: boolean): void {
  const changed = new Set(selected.value);
  for (const id of ids) {
    if (isSelected) changed.add(id);
    else changed.delete(id);
  }
  selected.value = changed;
}
