import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

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
  useEffect(
    () => () => {
      open.value = null; // The page of the next person must not show it.
    },
    [],
  );
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
