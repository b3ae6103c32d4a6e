import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Say whether an element can be seen without scrolling. It must be there from the first render on. */
export function useVisible(element: RefObject<Element | null>): Signal<boolean> {
  const isVisible = useSignal(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      isVisible.value = entries.at(-1)?.isIntersecting ?? false;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isVisible;
}
