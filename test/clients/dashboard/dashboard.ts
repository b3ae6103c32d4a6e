import { expect } from '@jest/globals';
import { until } from '../../support/until.js';
import type { Page } from '../chromium.js';
import {
  type Control,
  controlsOf,
  type Element,
  elementsOf,
  hasFocus,
  hasName,
  type Name,
  placeOf,
  watchClicks,
} from './elements.js';
import { pressKey } from './keys.js';
import { type Seen, watchPage } from './seen.js';

/** Keys that use an element that has the focus, by its role. */
const KEYS: Record<string, string> = { checkbox: 'Space', button: 'Enter', link: 'Enter' };

/** What a person uses elements with. */
export type Device = 'mouse' | 'keyboard';

/** A tab with the dashboard, as a person uses it: by mouse or by keyboard only, and by what it says. */
export class Dashboard {
  readonly page: Page;
  /** Folder of the files that it saves. */
  readonly downloads: string;
  readonly seen: Seen;
  readonly #url: string;
  readonly #device: Device;

  /** @param options.url of the page, without a hash */
  constructor(page: Page, { url, downloads, device }: { url: string; downloads: string; device: Device }) {
    this.page = page;
    this.#device = device;
    this.downloads = downloads;
    this.#url = url;
    this.seen = watchPage(page);
  }

  /** Go to a place, such as `#/keys`. */
  async go(hash = ''): Promise<void> {
    if (await this.page.evaluate(`location.href.startsWith(${JSON.stringify(this.#url)})`))
      await this.page.evaluate(`void (location.hash = ${JSON.stringify(hash || '#/')})`);
    else await this.page.send('Page.navigate', { url: this.#url + hash });
  }

  async reload(): Promise<void> {
    await this.page.evaluate('void (window.isOld = true)');
    await this.page.send('Page.reload');
    await until(() => this.page.evaluate('window.isOld !== true').catch(() => false));
  }

  hash(): Promise<string> {
    return this.page.evaluate('location.hash');
  }

  async signIn(key: string): Promise<void> {
    await this.fill('API key', key, /^API key/);
    await this.press('Enter');
    await this.find('Sign out');
  }

  /** Wait for exactly one element with a name that can be used, and return it. */
  async find(name: Name, role?: Control): Promise<Element> {
    let found: Element[] = [];
    let all: Element[] = [];
    await until(async () => {
      all = await controlsOf(this.page);
      found = all.filter((one) => hasName(one, name) && (role === undefined || one.role === role));
      return found.length === 1 && found[0]?.isDisabled === false;
    }).catch(() => {
      const names = all.map((one) => `${one.role} ${one.name}${one.isDisabled ? ' (disabled)' : ''}`).join('\n');
      throw new Error(`${found.length} elements have the name ${name}, of these:\n${names}`);
    });
    return found[0] as Element;
  }

  /**
   * Use the element with this name: click on it, or press the key for it when Tab has reached it. The page may render it again
   * just then, so what missed is repeated. By keyboard, a field gets the focus.
   */
  async click(name: Name, role?: Control): Promise<void> {
    if (this.#device === 'mouse') return this.#clickAt(name, role);
    await until(async () => {
      const element = await this.tabTo(name, { role });
      const key = KEYS[element.role];
      if (key === undefined) return true;
      if (!(await watchClicks(this.page, element))) return false;
      await this.press(key);
      return this.page.evaluate('window.__clicked');
    });
  }

  /** Click on the middle of an element. The page may move it just then, so a click that missed is repeated. */
  async #clickAt(name: Name, role?: Control): Promise<void> {
    await until(async () => {
      const place = await placeOf(this.page, await this.find(name, role));
      if (place === null) return false;
      const mouse = { ...place, button: 'left', clickCount: 1 };
      await this.page.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...mouse });
      await this.page.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...mouse });
      return this.page.evaluate('window.__clicked');
    });
  }

  /** Scroll to the element with this name. */
  async scrollTo(name: Name): Promise<void> {
    const { node } = await this.find(name);
    await this.page.send('DOM.scrollIntoViewIfNeeded', { backendNodeId: node });
  }

  /** Press Tab, or another key, until the focus is on the element with this name, and return it. */
  async tabTo(name: Name, { role, key = 'Tab' }: { role?: Control | undefined; key?: string } = {}): Promise<Element> {
    let element = await this.find(name, role);
    for (let presses = 0; presses < 200; presses++) {
      const isThere = await hasFocus(this.page, element);
      if (isThere) return element;
      if (isThere === null) element = await this.find(name, role);
      else await this.press(key);
    }
    throw new Error(`${key} does not reach ${name}`);
  }

  /** Press keys in turn, such as `Tab` or `Control+k`. */
  async press(...keys: string[]): Promise<void> {
    for (const one of keys) await pressKey(this.page, one);
  }

  /** Type a text where the focus is. */
  async type(text: string): Promise<void> {
    await this.press(...Array.from(text, (character) => (character === ' ' ? 'Space' : character)));
  }

  /** Replace the text of a field. */
  async fill(label: string, text: string, name: Name = new RegExp(`^${label}`)): Promise<void> {
    await this.click(name);
    await this.press('Control+a', 'Delete');
    await this.page.send('Input.insertText', { text });
  }

  /** Choose an option of a select by the beginning of its text. A click would open a list that is not in the page. */
  async choose(name: Name, option: string): Promise<void> {
    await this.tabTo(name, { role: 'combobox' });
    await this.type(option);
  }

  /** Return the element that has the focus; null when it is none that a person can use. */
  async focused(): Promise<Element | null> {
    return (await controlsOf(this.page)).find(({ isFocused }) => isFocused) ?? null;
  }

  /** Return the names of the elements with a role. */
  async names(role: string): Promise<string[]> {
    return (await elementsOf(this.page)).filter((one) => one.role === role).map(({ name }) => name);
  }

  /** Return the visible text, with single spaces. */
  async text(): Promise<string> {
    return (await this.page.evaluate(`document.body?.innerText ?? ''`)).replace(/\s+/g, ' ');
  }

  /** Return the texts of the elements of a selector. */
  texts(selector: string): Promise<string[]> {
    return this.page.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((it) => it.innerText.replace(/\\s+/g, ' ').trim())`,
    );
  }

  /** Wait until the visible text contains this. */
  waitFor(text: Name): Promise<void> {
    return this.#waitForText(text, true);
  }

  /** Wait until the visible text no longer contains this. */
  waitForNo(text: Name): Promise<void> {
    return this.#waitForText(text, false);
  }

  async #waitForText(wanted: Name, isThere: boolean): Promise<void> {
    let text = '';
    await until(async () => {
      text = await this.text();
      return (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) === isThere;
    }).catch(() => {
      throw new Error(`the text ${isThere ? 'lacks' : 'contains'} ${wanted}: ${text}`);
    });
  }

  /** Wait until a dialog with this title is open. */
  async waitForDialog(title: RegExp): Promise<void> {
    let dialogs: string[] = [];
    await until(async () => {
      dialogs = await this.names('dialog');
      return title.test(dialogs[0] ?? '');
    }).catch(async () => {
      const focused = (await this.focused())?.name;
      throw new Error(
        `no dialog ${title}, but [${dialogs}]; the focus is on ${focused}, and the text is ${await this.text()}`,
      );
    });
  }

  /** Wait until updates are live. */
  isLive(): Promise<void> {
    return this.waitForTexts('.mark', ['live']);
  }

  /**
   * Wait until live updates of a list of jobs add to what is shown: it is loaded, and again once its stream is open.
   */
  async isListLive(): Promise<void> {
    await this.isLive();
    await until(() => this.seen.responses.filter((one) => /\/spaces\/[^/]+\/jobs\?/.test(one)).length >= 2);
    await this.rendered();
  }

  /** Wait until the page has rendered what it knows. */
  rendered(): Promise<void> {
    return this.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))',
    );
  }

  /** Wait until the texts of the elements of a selector are exactly these. */
  async waitForTexts(selector: string, wanted: readonly string[]): Promise<void> {
    const isShown = async () => JSON.stringify(await this.texts(selector)) === JSON.stringify(wanted);
    await until(isShown).catch(async () => expect(await this.texts(selector)).toEqual(wanted));
  }
}
