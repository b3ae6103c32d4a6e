import type { Page } from '../chromium.js';

/** The name of an element, as a screen reader reads it. */
export type Name = string | RegExp;

/** An element in the accessibility tree. Elements behind a dialog are not in it. */
export interface Element {
  role: string;
  name: string;
  /** Id of its node in the DevTools protocol. */
  node: number;
  isDisabled: boolean;
  isFocused: boolean;
  isChecked: boolean;
}

/** Roles of elements that a person can use. */
export const CONTROLS = ['button', 'link', 'checkbox', 'textbox', 'searchbox', 'spinbutton', 'combobox'] as const;
export type Control = (typeof CONTROLS)[number];

interface AxNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  backendDOMNodeId?: number;
  properties?: { name: string; value: { value: unknown } }[];
}

/** List the elements of a page that a person can use, in their order. */
export async function controlsOf(page: Page): Promise<Element[]> {
  return (await elementsOf(page)).filter(({ role }) => (CONTROLS as readonly string[]).includes(role));
}

/** List all elements of the accessibility tree. */
export async function elementsOf(page: Page): Promise<Element[]> {
  const { nodes }: { nodes: AxNode[] } = await page.send('Accessibility.getFullAXTree');
  return nodes
    .filter(({ ignored, backendDOMNodeId }) => !ignored && backendDOMNodeId !== undefined)
    .map(({ role, name, backendDOMNodeId, properties = [] }) => {
      const property = (wanted: string) => properties.find((one) => one.name === wanted)?.value.value;
      return {
        role: role?.value ?? '',
        name: (name?.value ?? '').replace(/\s+/g, ' ').trim(),
        node: backendDOMNodeId as number,
        isDisabled: property('disabled') === true,
        isFocused: property('focused') === true,
        isChecked: property('checked') === 'true',
      };
    });
}

export const hasName = (element: Element, name: Name): boolean =>
  typeof name === 'string' ? element.name === name : name.test(element.name);

/**
 * Scroll to an element and return the middle of it, once it stays at its place. `window.__clicked` then says whether it was
 * clicked. Null when something else is there, so that a click would not reach it, and when it has gone.
 */
export const placeOf = (page: Page, element: Element): Promise<Place | null> => callOn(page, element, PLACE);

/** Let `window.__clicked` say from now on whether an element was clicked; null when it has gone. */
export const watchClicks = (page: Page, element: Element): Promise<true | null> =>
  callOn(page, element, `function () { ${WATCH} return true; }`);

/** Say whether an element has the focus; null when it has gone. */
export const hasFocus = (page: Page, element: Element): Promise<boolean | null> =>
  callOn(page, element, 'function () { return this === document.activeElement; }');

/** Call a function on an element; null when it was rendered again since the tree was read. */
async function callOn(page: Page, { node }: Element, functionDeclaration: string) {
  try {
    const { object } = await page.send('DOM.resolveNode', { backendNodeId: node });
    const call = { objectId: object.objectId, functionDeclaration, returnByValue: true, awaitPromise: true };
    return (await page.send('Runtime.callFunctionOn', call)).result.value;
  } catch {
    return null;
  }
}

export interface Place {
  x: number;
  y: number;
}

const WATCH = `
  window.__clicked = false;
  this.addEventListener('click', () => { window.__clicked = true; }, { capture: true, once: true });`;

const PLACE = `async function () {
  ${WATCH}
  // A tab in the background has no frames.
  const frame = () => Promise.race([new Promise(requestAnimationFrame), new Promise((done) => setTimeout(done, 100))]);
  const middle = () => {
    const [box] = this.getClientRects();
    return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  await frame();
  const before = middle();
  await frame();
  const now = middle();
  if (now?.x !== before?.x || now?.y !== before?.y || now === undefined) return null;
  const there = document.elementFromPoint(now.x, now.y);
  return this === there || this.contains(there) || [...(this.labels ?? [])].includes(there) ? now : null;
}`;
