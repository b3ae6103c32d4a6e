import type { Readable } from 'node:stream';
import type { JsonValue } from '@yardmaster/protocol';

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

/** The call that reports the end of a program, and the end in words. */
interface AttemptOutcome {
  endpoint: 'complete' | 'fail';
  body: Record<string, JsonValue>;
  words: string;
}

/** Decide what the end of a program means for its job. */
export function outcomeOf({ code, signal, output, tail }: ProgramEnd): AttemptOutcome {
  if (code === 0) return { endpoint: 'complete', body: { result: output.result() }, words: 'completed' };
  const cause = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
  const error = tail.text() || `the program ${cause}`;
  const isFinal = code === EX_DATAERR;
  return {
    endpoint: 'fail',
    body: isFinal ? { error, retryable: false } : { error },
    words: code === null && signal === null ? 'failed' : `failed: the program ${cause}`,
  };
}

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

  /** Return the JSON that was written; otherwise the text, as far as it is kept; null for no output. */
  result(): JsonValue {
    const bytes = Buffer.concat(this.#chunks);
    const text = bytes.toString();
    if (text.trim() === '') return null;
    if (this.#bytes <= MAX_JSON_BYTES) {
      try {
        return JSON.parse(text) as JsonValue;
      } catch {
        // It is text.
      }
    }
    if (bytes.length <= MAX_TEXT_BYTES) return { output: text };
    // A character that is cut is left out.
    const start = new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES), { stream: true });
    return { output: start, truncated: true };
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
