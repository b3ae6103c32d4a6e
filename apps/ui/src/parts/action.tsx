import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { actionCount } from '../live/action-count.js';
import { closeDialog, showDialog } from './dialog.js';

interface Notice {
  text: string;
  isBad: boolean;
}

/** What the latest action did. A screen reader reads it. */
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

export interface Action {
  /** Title of the dialog, as a question. Names of users in it are isolated, see {@link Text}. */
  title: ComponentChildren;
  /** Consequences of the action, and further fields. */
  children?: ComponentChildren;
  /** Text of the button that performs the action. */
  verb: string;
  isDestructive?: boolean;
  /** Whether the action is not possible yet. */
  isDisabled?: boolean;
  /** Text of the button that closes the dialog. Default: Cancel. */
  closeText?: string;
  /** Perform the action; returns the notice to show. Empty: the dialog stays. An error stays in the dialog. */
  run: () => Promise<string>;
}

/** Ask the person to confirm an action, and perform it then. */
export function confirm(action: Action): void {
  showDialog(<ActionForm {...action} />);
}

/** Content of a dialog that performs an action: title, content, and the two buttons. */
export function ActionForm({
  title,
  children,
  verb,
  isDestructive = false,
  isDisabled = false,
  closeText = 'Cancel',
  run,
}: Action) {
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
      actionCount.value++;
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
