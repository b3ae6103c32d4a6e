import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isPaused } from './stream.js';

/** Number of actions so far. What is shown is loaded again after each, also while live updates are paused. */
export const actionCount = signal(0);

/** Time after which a failed load is tried again. */
export const RETRY_MS = 3000;

interface Loaded<T> {
  /** Null until the first response, and after the key has changed. */
  value: Signal<T | null>;
  /** Of the latest load; null when it succeeded. */
  error: Signal<Error | null>;
  reload: () => Promise<void>;
}

/**
 * Load something when a component is shown, and again whenever the key changes.
 *
 * @param load gets a signal that ends the load when it is no longer of use; null while nothing is to be loaded
 * @param everyMs reload this long after each response, unless live updates are paused or the page is hidden. Without it,
 *   only a failed load is tried again
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

  // The key stands for what is loaded.
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
