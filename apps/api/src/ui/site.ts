import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ConfigError } from '@yardmaster/runtime';

/** A file of the dashboard, in memory. */
export interface SiteFile {
  /** Path below `/ui/`; empty for index.html. */
  path: string;
  contentType: string;
  plain: Representation;
  /** Null when it would not be smaller. */
  gzip: Representation | null;
}

/** A file as it is sent. Each encoding has an ETag of its own, because their bytes differ (RFC 9110, 8.8.3.3). */
export interface Representation {
  bytes: Buffer;
  etag: string;
}

/** Every kind of file that scripts/ui.mjs makes. */
const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * What scripts/ui.mjs makes. The path is the same from the sources and from the compiled code, in a clone and in the
 * image. An import of the workspace would need its package at run time, where it has no code.
 */
const SITE = new URL('../../../ui/dist/site/', import.meta.url);

/**
 * Read and compress all files of the dashboard.
 *
 * Missing files end the start: an API that served no dashboard although UI is true would look like a broken proxy. Only
 * a compiler that was called by hand leaves them out, and the message says what to do then.
 *
 * @param folder of the files; its URL ends with a slash
 * @throws ConfigError when the dashboard is not built
 */
export function readSite(folder = SITE): SiteFile[] {
  try {
    const assets = readdirSync(new URL('assets/', folder)).map((name) => `assets/${name}`);
    return [fileOf(folder, 'index.html', ''), ...assets.map((name) => fileOf(folder, name, name))];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new ConfigError(['UI must be false, because the dashboard is not built: run npm run build']);
  }
}

function fileOf(folder: URL, name: string, path: string): SiteFile {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`${name} of the dashboard has an extension without a content type`);
  const bytes = readFileSync(new URL(name, folder));
  const zipped = gzipSync(bytes, { level: 9 });
  return {
    path,
    contentType,
    plain: representationOf(bytes),
    gzip: zipped.length < bytes.length ? representationOf(zipped) : null,
  };
}

function representationOf(bytes: Buffer): Representation {
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` };
}
