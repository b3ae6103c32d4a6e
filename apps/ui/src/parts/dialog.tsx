import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The dialog that is open; null for none. */
const open = signal<ComponentChildren>(null);

export function showDialog(content: ComponentChildren): void {
  open.value = content;
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
  return open.value === null ? null : <Modal>{open.value}</Modal>;
}

function Modal({ children }: { children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element = dialog.current;
    element?.showModal();
    addEventListener('hashchange', closeDialog);
    return () => {
      removeEventListener('hashchange', closeDialog);
      element = null;
      open.value = null; // The page of the next person must not show it.
    };
  }, []);
  return (
    <dialog ref={dialog} onClose={closeDialog} aria-labelledby="dialog-title">
      {children}
    </dialog>
  );
}

/**
 * The inside of a dialog that only shows something. The focus goes to the title, and a screen reader reads on from there:
 * after an act, the button that had it is gone.
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
