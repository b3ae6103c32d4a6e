import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { actionCount } from '../live/use-loaded.js';
import { useSubmit } from './form.js';
import { ErrorNotice, notify } from './notice.js';

interface Dialog {
  /** Unique for each dialog. */
  key: number;
  content: ComponentChildren;
}

/** The open dialog; null for none. */
const open = signal<Dialog | null>(null);
let lastKey = 0;

export function showDialog(content: ComponentChildren): void {
  open.value = { key: ++lastKey, content };
}

/** The element of the open dialog. */
let element: HTMLDialogElement | null = null;

/** Close the dialog. Closing its element, rather than removing it, lets the browser restore the focus. */
export function closeDialog(): void {
  if (element?.open) element.close();
  else open.value = null;
}

/** Render the open dialog. The browser keeps the focus inside, and restores it afterward. */
export function DialogHost() {
  const dialog = open.value;
  useEffect(() => () => (open.value = null), []); // The next user must not see it.
  return dialog === null ? null : <Modal key={dialog.key} dialog={dialog} />;
}

/** A dialog element. Another one may open before this one is cleaned up, because effects run after the paint. */
function Modal({ dialog }: { dialog: Dialog }) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const own = place.current;
    element = own;
    own?.showModal();
    addEventListener('hashchange', closeDialog);
    return () => {
      removeEventListener('hashchange', closeDialog);
      if (element === own) element = null;
    };
  }, []);
  const forget = () => {
    if (open.value === dialog) open.value = null;
  };
  return (
    <dialog ref={place} onClose={forget} aria-labelledby="dialog-title">
      {dialog.content}
    </dialog>
  );
}

/**
 * Render a dialog that only shows something. The title gets the focus, so that a screen reader continues from there: the
 * button that opened the dialog may be gone after an action.
 */
export function Shown({ title, children }: { title: ComponentChildren; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <h2 id="dialog-title" ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
      <p class="buttons">
        <button type="button" class="primary" onClick={closeDialog}>
          Close
        </button>
      </p>
    </>
  );
}

export interface Action {
  /** Title of the dialog, as a question. Isolate names from users in it; see {@link Text}. */
  title: ComponentChildren;
  /** Consequences of the action, and more fields. */
  children?: ComponentChildren;
  /** Text of the button that performs the action. */
  verb: string;
  isDestructive?: boolean;
  /** Whether to disable the action for now. */
  isDisabled?: boolean;
  /** Text of the button that closes the dialog. Default: Cancel. */
  closeText?: string;
  /** Perform the action; return the notice to show, or '' to keep the dialog open. The dialog shows any error. */
  run: () => Promise<string>;
}

/** Ask the user to confirm an action, then perform it. */
export function confirm(action: Action): void {
  showDialog(<ActionForm {...action} />);
}

/** Render a dialog that performs an action: title, content and two buttons. */
export function ActionForm({
  title,
  children,
  verb,
  isDestructive = false,
  isDisabled = false,
  closeText = 'Cancel',
  run,
}: Action) {
  const isShown = useRef(true);
  useEffect(() => () => (isShown.current = false), []);
  const { submit, error, isRunning } = useSubmit(async () => {
    const done = await run();
    actionCount.value++;
    if (done === '') return;
    if (isShown.current) closeDialog();
    notify(done);
  });
  return (
    <form onSubmit={submit}>
      <h2 id="dialog-title">{title}</h2>
      {children}
      <ErrorNotice>{error.value}</ErrorNotice>
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
