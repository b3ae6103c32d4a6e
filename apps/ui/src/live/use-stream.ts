import { useEffect } from 'preact/hooks';
import { isPaused, type StreamOptions, streamState, watch } from './stream.js';

/**
 * Watch a stream while a component is shown and live updates are not paused.
 *
 * @param key identifies the stream: another key opens another one
 * @param options the stream; null for none
 */
export function useStream(key: string, options: StreamOptions | null): void {
  const paused = isPaused.value;
  useEffect(() => {
    if (options === null) return;
    if (!paused) return watch(options);
    streamState.value = 'paused';
    return () => {
      streamState.value = null;
    };
  }, [key, paused, options === null]);
}
