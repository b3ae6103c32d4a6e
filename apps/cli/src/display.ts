import type { Progress } from '@yardmaster/protocol';
import { lineOf } from './lines.js';
import type { StreamMessage } from './message.js';
import { printableJson } from './printable.js';

/** What shows the messages of a watch. */
export interface Display {
  /**
   * Show a message that came.
   *
   * @param raw its text as it came
   */
  show(message: StreamMessage, raw: string): void;
  /** Show a printable sentence about the watch itself, such as a lost connection. */
  notice(sentence: string): void;
  /** Called at the end, before anything else is printed. */
  close(): void;
  /** Show the progress that a job had before the stream began; for a display of the state of a job. */
  showProgress?(progress: Progress): void;
}

export interface Output {
  write(text: string): unknown;
}

/** The outputs: lines of the messages on `out`, all else on `err`, so that a program can read the lines. */
export interface Channels {
  out: Output;
  err: Output;
}

/** Create a display that writes every message as one JSON line. */
export function jsonDisplay({ out, err }: Channels): Display {
  return {
    show: (_message, raw) => out.write(`${printableJson(raw)}\n`),
    notice: (sentence) => err.write(`${sentence}\n`),
    close: () => undefined,
  };
}

/** Create a display that writes every message as one plain line, without escape codes. */
export function plainDisplay({ out, err }: Channels, { withJob }: { withJob: boolean }): Display {
  return {
    show: (message) => out.write(`${lineOf(message, { withJob })}\n`),
    notice: (sentence) => err.write(`${sentence}\n`),
    close: () => undefined,
  };
}
