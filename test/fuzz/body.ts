import { gzipSync } from 'node:zlib';

/** A body of a request, and what is known of it without reading it. */
export interface Body {
  /** As it goes over the wire, before it is cut into chunks. */
  wire: Buffer;
  /** What it says, inflated; null when it cannot be inflated. */
  text: Buffer | null;
  /** Lines of the head that say what it is. */
  headers: [name: string, value: string][];
  type: 'json' | 'ndjson' | 'wrong' | 'unclear';
  coding: 'identity' | 'gzip' | 'wrong' | 'unclear';
}

export const JSON_TYPE: Body['headers'][number] = ['content-type', 'application/json'];

export function jsonBody(text: string | Buffer): Body {
  const wire = Buffer.from(text as string);
  return { wire, text: wire, headers: [JSON_TYPE], type: 'json', coding: 'identity' };
}

export function ndjsonBody(text: string | Buffer): Body {
  return { ...jsonBody(text), headers: [['content-type', 'application/x-ndjson']], type: 'ndjson' };
}

/** The same, gzipped as it should be. */
export function gzipped(body: Body): Body {
  return {
    ...body,
    wire: gzipSync(body.wire),
    headers: [...body.headers, ['content-encoding', 'gzip']],
    coding: 'gzip',
  };
}
