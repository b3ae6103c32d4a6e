import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isPaused } from './stream.js';

/** Number of actions so far. Data is reloaded after each one, even while live updates are paused. */
export const actionCount = signal(0);

/** Delay before a failed load is retried, in milliseconds. */
export const RETRY_MS = 3000;

interface Loaded<T> {
  /** The loaded value; null until the first response for the current key. */
  value: Signal<T | null>;
  /** Error of the latest load; null if it succeeded. */
  error: Signal<Error | null>;
  reload: () => Promise<void>;
}

/**
 * Load data when a component is mounted, and again whenever the key changes.
 *
 * @param load receives a signal that aborts the load when it is no longer needed; null to load nothing
 * @param everyMs how long after each response to reload, unless live updates are paused or the page is hidden. Without
 *   it, only failed loads are retried
 */
export function useLoaded<T>(
  key: string,
  load: ((signal: AbortSignal) => Promise<T>) | null,
  everyMs?: number,
): Loaded<T> {
  const value = useSignal<T | null>(null);
  const error = useSignal<Error | null>(null);
  const controller = useSignal(new AbortController());

  const reload = async () => {
    if (load === null) return;
    controller.value.abort();
    const mine = new AbortController();
    controller.value = mine;
    try {
      const loaded = await load(mine.signal);
      if (mine.signal.aborted) return;
      value.value = loaded;
      error.value = null;
    } catch (thrown) {
      if (!mine.signal.aborted) error.value = thrown as Error;
    }
  };

  // A different key means different data.
  useEffect(() => {
    value.value = null;
    return () => controller.value.abort();
  }, [key]);
  const isWanted = load !== null;
  useEffect(() => {
    reload();
  }, [key, isWanted, actionCount.value]);
  const period = everyMs ?? (error.value === null ? undefined : RETRY_MS);
  useEffect(() => {
    if (period === undefined || !isWanted) return;
    let isLeft = false;
    let timer = setTimeout(again, period);
    async function again() {
      if (!isPaused.value && !document.hidden) await reload();
      if (!isLeft) timer = setTimeout(again, period);
    }
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [key, isWanted, period]);

  return { value, error, reload };
}
