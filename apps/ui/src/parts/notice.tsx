import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface Notice {
  text: string;
  isBad: boolean;
}

/** The result of the latest action, announced by screen readers. */
const notice = signal<Notice | null>(null);
let hiding: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, isBad = false): void {
  notice.value = { text, isBad };
  clearTimeout(hiding);
  if (!isBad) hiding = setTimeout(clearNotice, 8000);
}

function clearNotice(): void {
  notice.value = null;
}

export function NoticeHost() {
  const shown = notice.value;
  useEffect(() => clearNotice, []); // The next user must not see it.
  return (
    <div class="notices" role="status">
      {shown && (
        <p class={shown.isBad ? 'notice bad' : 'notice'}>
          <bdi>{shown.text}</bdi>{' '}
          <button type="button" class="plain" onClick={clearNotice}>
            Dismiss
          </button>
        </p>
      )}
    </div>
  );
}

/** Show why something failed, or nothing without a text. Data that was loaded before stays on the page. */
export function ErrorNotice({ children }: { children: ComponentChildren }) {
  if (!children) return null;
  return (
    <p class="notice bad" role="alert">
      <bdi>{children}</bdi>
    </p>
  );
}
