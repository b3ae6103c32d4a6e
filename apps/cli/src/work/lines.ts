import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Longest line in UTF-16 units. A checkpoint may have 64 KB; the rest is room for a service that allows more. */
const MAX_LINE = 256 * 1024;

/** Read the lines of a stream, without their ends. A line that is too long is null, so that memory stays bounded. */
export async function* linesOf(stream: Readable): AsyncGenerator<string | null> {
  const decoder = new StringDecoder('utf8');
  let start = '';
  let isTooLong = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const parts = decoder.write(chunk).split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      const line = start + part;
      yield isTooLong || line.length > MAX_LINE ? null : line.replace(/\r$/, '');
      start = '';
      isTooLong = false;
    }
    start += last;
    if (start.length > MAX_LINE) {
      isTooLong = true;
      start = '';
    }
  }
  start += decoder.end();
  if (isTooLong) yield null;
  else if (start !== '') yield start;
}
