import type { Readable } from 'node:stream';
import type { JsonValue } from '@yardmaster/protocol';
import { NonRetryable } from '@yardmaster/sdk';

/** Maximum standard output to parse as JSON, in bytes: the service's default limit for results. */
const MAX_JSON_BYTES = 256 * 1024;

/** Maximum text in `{"output": text}`, in bytes. Encoded as JSON, it may be six times as large. */
const MAX_TEXT_BYTES = 32 * 1024;

/** How much of the end of standard error becomes the error. */
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4_000;

/** Exit code for invalid input (sysexits.h), which retries can't fix. Others, such as EX_TEMPFAIL 75, allow retries. */
const EX_DATAERR = 65;

/** How a program ended. */
export interface ProgramEnd {
  /** Exit code; null if a signal ended the program, or if it did not start. */
  code: number | null;
  signal: NodeJS.Signals | null;
  output: OutputStart;
  tail: OutputTail;
}

/**
 * Return the result of a program that has ended.
 *
 * @throws Error with the end of standard error; NonRetryable after exit code 65, or if the result can't be stored
 */
export function resultOf({ code, signal, output, tail }: ProgramEnd): JsonValue {
  if (code === 0) return output.result();
  const [name, cause] =
    signal === null ? [`exit ${code}`, `exited with code ${code}`] : [signal, `was killed by ${signal}`];
  const message = tail.text() || `the program ${cause}`;
  throw errorOf(
    code === EX_DATAERR ? NonRetryable : Error,
    code === null && signal === null ? 'not started' : name,
    message,
  );
}

/** Create an error of a program, without a stack of this process. */
const errorOf = (kind: new (message: string) => Error, name: string, message: string): Error =>
  Object.assign(new kind(message), { name, stack: '' });

/** The start of a program's standard output. The rest is read and dropped, so that the program doesn't block. */
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
   * Return the output: parsed if it is JSON, otherwise as text, possibly truncated. Null for no output.
   *
   * @throws NonRetryable if the output is not UTF-8
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

/** Decode UTF-8. @param isWhole false to omit an incomplete character at the end */
function decode(bytes: Buffer, isWhole: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    throw errorOf(NonRetryable, 'InvalidResult', 'Standard output is not valid UTF-8');
  }
}

/** The last lines of a program's standard error. */
export class OutputTail {
  readonly #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > TAIL_LINES) this.#lines.shift();
  }

  text(): string {
    // The cut may split a surrogate pair.
    return this.#lines.join('\n').trim().slice(-TAIL_CHARACTERS).toWellFormed();
  }
}
