import type { JsonValue } from '@yardmaster/protocol';
import { jsonOf } from '@yardmaster/sdk/internal/json';
import { type Io, UsageError } from '../command.js';

/** Check a payload argument: JSON, `-` for standard input, or undefined for none. @throws UsageError */
export function payloadIn(text: string | undefined): string | null {
  if (text !== undefined && text !== '-') jsonIn(text, 'payload');
  return text ?? null;
}

/** Add the payload that `payloadIn` has checked to a body. @throws UsageError */
export async function withPayload(body: Record<string, JsonValue>, payload: string | null, io: Io) {
  const text = payload === '-' ? await io.readInput() : payload;
  return text === null ? body : { ...body, payload: jsonIn(text, 'payload') };
}

/** Read JSON. @param name what it is, for the error @throws UsageError */
export function jsonIn(text: string, name: string): JsonValue {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new UsageError(`${name} is not JSON: ${faultOf(text)}`);
  }
  try {
    jsonOf(value, name); // Rejects numbers such as 1e400, which JSON.parse turns into Infinity.
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return value;
}

/** Describe where a text stops being valid JSON. */
function faultOf(text: string): string {
  let [valid, wrong] = [0, text.length + 1];
  while (wrong - valid > 1) {
    const length = Math.floor((valid + wrong) / 2);
    if (canBecomeJson(text.slice(0, length))) valid = length;
    else wrong = length;
  }
  if (valid === text.length) return 'unexpected end of input';
  const before = text.slice(0, valid).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `unexpected character at line ${before.length}, column ${column}`;
}

/** Whether this text is the start of valid JSON: either complete, or with an error only at its end. */
function canBecomeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return position === undefined ? message.startsWith('Unexpected end') : Number(position) >= text.length;
  }
}
