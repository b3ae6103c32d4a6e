import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { actionCount } from '../live/use-loaded.js';
import { useSubmit } from './form.js';
import { ErrorNotice, notify } from './notice.js';

interface Dialog {
  /** Differs for each dialog. */
  key: number;
  content: ComponentChildren;
}

/** The dialog that is open; null for none. */
const open = signal<Dialog | null>(null);
let lastKey = 0;

export function showDialog(content: ComponentChildren): void {
  open.value = { key: ++lastKey, content };
}

/** The element of the open dialog. */
let element: HTMLDialogElement | null = null;

/** Close the dialog. The browser gives the focus back to where it was, which it does only for an element of the page. */
export function closeDialog(): void {
  if (element?.open) element.close();
  else open.value = null;
}

/** The place of the dialog. The browser keeps the focus in it, and gives it back afterwards. */
export function DialogHost() {
  const dialog = open.value;
  useEffect(() => () => (open.value = null), []); // The page of the next person must not show it.
  return dialog === null ? null : <Modal key={dialog.key} dialog={dialog} />;
}

/** When this one ends, another one may be open already, because effects are cleaned up after the page is painted. */
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
 * The inside of a dialog that only shows something. The focus goes to the title, and a screen reader reads on from there:
 * after an action, the button that had it is gone.
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
