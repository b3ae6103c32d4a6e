import type { Status } from '@yardmaster/protocol';

/** Colours a text, which must be printable and clipped already. */
export type Paint = (text: string) => string;

const sgr =
  (code: number): Paint =>
  (text) =>
    text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`;

export const plain: Paint = (text) => text;
export const bold = sgr(1);
export const dim = sgr(2);
export const red = sgr(31);
export const green = sgr(32);
export const yellow = sgr(33);
export const cyan = sgr(36);

/** The colour of a status, or of the type of message that brings it. */
export function paintOf(word: string | null): Paint {
  return COLOURS[word as Status] ?? plain;
}

const COLOURS: Partial<Record<string, Paint>> = {
  running: cyan,
  completed: green,
  retried: yellow,
  dead: red,
  killed: red,
};
