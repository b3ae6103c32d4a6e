import type { Progress } from '@yardmaster/protocol';
import { lineOf } from './lines.js';
import type { StreamMessage } from './message.js';
import { printableJson } from './printable.js';

/** Where a watch shows what it gets. */
export interface Display {
  /**
   * A message came.
   *
   * @param raw its text as it came
   */
  show(message: StreamMessage, raw: string): void;
  /** Something about the watch itself, such as a lost connection; a printable sentence. */
  notice(sentence: string): void;
  /** Called at the end, before anything else is printed. */
  close(): void;
  /** For a display of the state of a job: the progress it had before the stream began. */
  showProgress?(progress: Progress): void;
}

export interface Output {
  write(text: string): unknown;
}

/** Lines of the messages on `out`, all else on `err`, so that a program can read the lines. */
export interface Channels {
  out: Output;
  err: Output;
}

/** Every message as one JSON line. */
export function jsonDisplay({ out, err }: Channels): Display {
  return {
    show: (_message, raw) => out.write(`${printableJson(raw)}\n`),
    notice: (sentence) => err.write(`${sentence}\n`),
    close: () => undefined,
  };
}

/** Every message as one plain line, without escape codes. */
export function plainDisplay({ out, err }: Channels, { withJob }: { withJob: boolean }): Display {
  return {
    show: (message) => out.write(`${lineOf(message, { withJob })}\n`),
    notice: (sentence) => err.write(`${sentence}\n`),
    close: () => undefined,
  };
}
