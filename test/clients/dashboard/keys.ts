import type { Page } from '../chromium.js';

const MODIFIERS: Record<string, number> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

/** Keys whose effect in a browser depends on their code, and the text that they enter. */
const NAMED: Record<string, { code: number; key?: string; text?: string }> = {
  Tab: { code: 9 },
  Enter: { code: 13, text: '\r' },
  Escape: { code: 27 },
  Space: { code: 32, key: ' ', text: ' ' },
  Delete: { code: 46 },
};

/** Press and release a key, such as `j`, `Enter` or `Control+K`. */
export async function pressKey(page: Page, keys: string): Promise<void> {
  const names = keys.split(/\+(?=.)/);
  const name = names.pop() as string;
  const modifiers = names.reduce((sum, modifier) => sum + (MODIFIERS[modifier] as number), 0);
  const { code, key = name, text } = NAMED[name] ?? { code: name.toUpperCase().charCodeAt(0), text: name };
  const event = { key, windowsVirtualKeyCode: code, modifiers };
  const entered = modifiers === 0 && text !== undefined ? { text } : {};
  const commands = keys === 'Control+a' ? { commands: ['selectAll'] } : {};
  await page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event, ...entered, ...commands });
  await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}
