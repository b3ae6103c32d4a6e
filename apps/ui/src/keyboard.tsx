import { Find } from './find.js';
import { Shown, showDialog } from './parts/dialog.js';

const KEYS = [
  ['/', 'Go to the search field'],
  ['j, k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['r', 'Requeue the job in the row or on the page'],
  ['Ctrl K, ⌘ K', 'Find a job, space, name or tag'],
  ['?', 'Show keyboard shortcuts'],
] as const;

/** Actions of single keys. */
const ON_KEY: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  j: () => moveBy(1),
  k: () => moveBy(-1),
  x: () => currentRow()?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click(),
  r: () =>
    (currentRow() ?? document.querySelector('#main > .bulk'))
      ?.querySelector<HTMLButtonElement>('[data-key=r]')
      ?.click(),
  '?': () => showDialog(<Help />),
};

/** Handle keys for the whole page. Keys without Ctrl work only outside of fields and dialogs. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    // Don't replace an open dialog: it may show a new secret.
    if (document.querySelector('dialog[open]') !== null) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      showDialog(<Find />);
      return;
    }
    const target = event.target as Element;
    const isElsewhere = target.closest('input:not([type=checkbox]), textarea, select') !== null;
    if (isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
    const onPress = Object.hasOwn(ON_KEY, event.key) ? ON_KEY[event.key] : undefined;
    if (onPress === undefined) return;
    event.preventDefault();
    onPress();
  });
}

/** Return the row that has the focus. */
const currentRow = () => document.activeElement?.closest('tr') ?? null;

/** Move the focus to the link of another row. */
function moveBy(step: number): void {
  const rows = [...document.querySelectorAll('tr:has(a[data-row])')];
  const at = rows.indexOf(currentRow() as Element);
  const row = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
  row?.querySelector<HTMLElement>('a[data-row]')?.focus();
}

export function Help() {
  return (
    <Shown title="Keyboard shortcuts">
      <dl class="pairs">
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Shown>
  );
}
