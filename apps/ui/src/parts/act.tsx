import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { acted } from '../live/acted.js';
import { closeDialog, showDialog } from './dialog.js';

interface Notice {
  text: string;
  isBad: boolean;
}

/** What the latest act did. A screen reader reads it. */
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
  useEffect(() => clearNotice, []); // The next person must not read it.
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

export interface Act {
  /** Title of the dialog, as a question. Names of users in it are isolated, see {@link Text}. */
  title: ComponentChildren;
  /** What follows from it, and further fields. */
  children?: ComponentChildren;
  /** Text of the button that does it. */
  verb: string;
  isDestructive?: boolean;
  /** Whether it cannot be done yet. */
  isDisabled?: boolean;
  /** Text of the button that closes the dialog. Default: Cancel. */
  closeText?: string;
  /** Does it, and returns what to say afterwards. An error stays in the dialog. */
  run: () => Promise<string>;
}

/** Ask before an act, and do it. */
export function ask(act: Act): void {
  showDialog(<ActForm {...act} />);
}

/** The inside of a dialog that does something: title, content, and the two buttons. */
export function ActForm({
  title,
  children,
  verb,
  isDestructive = false,
  isDisabled = false,
  closeText = 'Cancel',
  run,
}: Act) {
  const error = useSignal('');
  const isRunning = useSignal(false);
  const isShown = useRef(true);
  useEffect(
    () => () => {
      isShown.current = false;
    },
    [],
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    isRunning.value = true;
    error.value = '';
    try {
      const done = await run();
      acted.value++;
      if (done !== '') {
        if (isShown.current) closeDialog();
        notify(done);
      }
    } catch (thrown) {
      error.value = (thrown as Error).message;
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <form onSubmit={submit}>
      <h2 id="dialog-title">{title}</h2>
      {children}
      {error.value !== '' && (
        <p class="notice bad" role="alert">
          <bdi>{error.value}</bdi>
        </p>
      )}
      <p class="buttons">
        <button type="button" onClick={closeDialog}>
          {closeText}
        </button>
        <button type="submit" class={isDestructive ? 'danger' : 'primary'} disabled={isRunning.value || isDisabled}>
          {verb}
        </button>
      </p>
    </form>
  );
}

interface CopyProps {
  text: string;
  /** What is copied, for people who do not see where the button is: `Id`. */
  label: string;
}

/** A button that copies a text, and says so. */
export function CopyButton({ text, label }: CopyProps) {
  const state = useSignal<'' | 'Copied' | 'Select the text to copy it'>('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'Copied';
    } catch {
      state.value = 'Select the text to copy it'; // Without HTTPS, browsers forbid pages to copy.
    }
  };
  return (
    <>
      <button type="button" onClick={copy}>
        Copy<span class="hidden"> {label}</span>
      </button>{' '}
      <span role="status">{state.value}</span>
    </>
  );
}

/** Show a text with a button that copies it. */
export function Copyable({ text, label }: CopyProps) {
  return (
    <span class="copyable">
      <code>{text}</code> <CopyButton text={text} label={label} />
    </span>
  );
}
