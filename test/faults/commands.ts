/** One command as a client of Redis sent it, and where in the chunk that held its end. */
export interface Command {
  /** Its words, byte by byte: `['evalsha', sha1, '1', key, …]`. */
  words: string[];
  /** Where it begins in the chunk; below 0 when it began in an earlier one. */
  start: number;
}

const LINE_END = Buffer.from('\r\n');

/**
 * Make a function that takes the chunks of a connection apart into commands, in the one form in which ioredis sends
 * them: arrays of bulk strings. What is in no such form yet waits for the next chunk.
 */
export function commandReader(): (chunk: Buffer) => Command[] {
  let kept = Buffer.alloc(0);
  return (chunk) => {
    const before = kept.length;
    kept = Buffer.concat([kept, chunk]);
    const commands: Command[] = [];
    let start = 0;
    for (;;) {
      const parsed = commandAt(kept, start);
      if (parsed === null) break;
      commands.push({ words: parsed.words, start: start - before });
      start = parsed.end;
    }
    kept = kept.subarray(start);
    return commands;
  };
}

/** The command that begins there; null while some of it is to come. */
function commandAt(bytes: Buffer, start: number): { words: string[]; end: number } | null {
  const count = numberAt(bytes, start);
  if (count === null) return null;
  const words: string[] = [];
  let { end } = count;
  for (let i = 0; i < count.value; i++) {
    const length = numberAt(bytes, end);
    if (length === null || length.end + length.value + 2 > bytes.length) return null;
    words.push(bytes.toString('latin1', length.end, length.end + length.value));
    end = length.end + length.value + 2;
  }
  return { words, end };
}

/** The number behind a `*` or a `$`, up to the end of its line. */
function numberAt(bytes: Buffer, start: number): { value: number; end: number } | null {
  const lineEnd = bytes.indexOf(LINE_END, start);
  if (lineEnd < 0) return null;
  return { value: Number(bytes.toString('latin1', start + 1, lineEnd)), end: lineEnd + 2 };
}
