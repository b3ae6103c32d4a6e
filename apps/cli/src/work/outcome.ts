import type { Readable } from 'node:stream';
import type { JsonValue } from '@yardmaster/protocol';
import { NonRetryable } from '@yardmaster/sdk';

/** Largest standard output that is read as JSON, in bytes: the largest result that the service takes by default. */
const MAX_JSON_BYTES = 256 * 1024;

/** Largest output that becomes `{"output": text}`, in bytes. As JSON it may be six times as large. */
const MAX_TEXT_BYTES = 32 * 1024;

/** End of the standard error that becomes the error. */
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4_000;

/** Exit code for input that no retry can help (sysexits.h). Others, such as EX_TEMPFAIL 75, fail only the attempt. */
const EX_DATAERR = 65;

/** How a program ended. */
export interface ProgramEnd {
  /** Exit code; null when a signal ended it, or when it did not start. */
  code: number | null;
  signal: NodeJS.Signals | null;
  output: OutputStart;
  tail: OutputTail;
}

/**
 * Return the result of a program that has ended.
 *
 * @throws Error with the end of the standard error; NonRetryable after exit code 65, and for a result that can't be stored
 */
export function resultOf({ code, signal, output, tail }: ProgramEnd): JsonValue {
  if (code === 0) return output.result();
  const [name, cause] =
    signal === null ? [`exit ${code}`, `exited with code ${code}`] : [signal, `was ended by ${signal}`];
  const message = tail.text() || `the program ${cause}`;
  throw errorOf(
    code === EX_DATAERR ? NonRetryable : Error,
    code === null && signal === null ? 'not started' : name,
    message,
  );
}

/** Make an error of a program, which has no stack of this process. */
const errorOf = (kind: new (message: string) => Error, name: string, message: string): Error =>
  Object.assign(new kind(message), { name, stack: '' });

/** The start of a standard output. The rest is read and dropped, so that the program can continue. */
export class OutputStart {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  async readAll(stream: Readable): Promise<void> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (this.#bytes <= MAX_JSON_BYTES) this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    }
  }

  /**
   * Return the JSON that was written; otherwise the text, as far as it is kept; null for no output.
   *
   * @throws NonRetryable for output that is not UTF-8
   */
  result(): JsonValue {
    const isWhole = this.#bytes <= MAX_JSON_BYTES;
    const bytes = Buffer.concat(this.#chunks);
    const text = decode(bytes, isWhole);
    if (text.trim() === '') return null;
    if (isWhole) {
      try {
        return JSON.parse(text) as JsonValue;
      } catch {
        // It is text.
      }
    }
    if (bytes.length <= MAX_TEXT_BYTES) return { output: text };
    return { output: decode(bytes.subarray(0, MAX_TEXT_BYTES), false), truncated: true };
  }
}

/** Decode UTF-8. @param isWhole false leaves out a character that is cut at the end */
function decode(bytes: Buffer, isWhole: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    throw errorOf(NonRetryable, 'InvalidResult', 'The standard output is not valid UTF-8');
  }
}

/** The last lines of a standard error. */
export class OutputTail {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > TAIL_LINES) this.#lines.shift();
  }

  text(): string {
    // The start may be the half of a surrogate pair.
    return this.#lines.join('\n').trim().slice(-TAIL_CHARACTERS).toWellFormed();
  }
}
