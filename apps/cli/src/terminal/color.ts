import { TRANSITIONS, WAITS_AGAIN_EVENTS } from '@yardmaster/protocol';

/** Colors a text, which must already be printable and clipped. */
export type Color = (text: string) => string;

const sgr =
  (code: number): Color =>
  (text) =>
    text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`;

export const plain: Color = (text) => text;
export const bold = sgr(1);
export const dim = sgr(2);
export const red = sgr(31);
export const green = sgr(32);
export const yellow = sgr(33);
export const magenta = sgr(35);
export const cyan = sgr(36);

const COLORS = new Map<string, Color>([
  ['scheduled', magenta],
  ['running', cyan],
  ['completed', green],
  ['dead', red],
  ['killed', red],
  ...TRANSITIONS.filter(({ to }) => to === 'scheduled').map(({ event }) => [String(event), magenta] as const),
  ...[...WAITS_AGAIN_EVENTS].map((type) => [type, yellow] as const),
]);

/** Return the color of a status, or of a message type that leads to it. */
export const colorOf = (word: string): Color => COLORS.get(word) ?? plain;
