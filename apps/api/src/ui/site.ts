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
  /** Null if compression would not make it smaller. */
  gzip: Representation | null;
}

/** A file in one encoding. Each encoding has its own ETag, because the bytes differ (RFC 9110 §8.8.3.3). */
export interface Representation {
  bytes: Buffer;
  etag: string;
}

/** Every kind of file that scripts/ui.mjs generates. */
const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Output folder of scripts/ui.mjs. The path works from the sources and from the compiled code, in a clone and in the image.
 * An import of the workspace would need its package at runtime, where it has no code.
 */
const SITE = new URL('../../../ui/dist/site/', import.meta.url);

/**
 * Read and compress all files of the dashboard.
 *
 * Missing files stop the process from starting: an API without the dashboard, although UI is true, would look like a broken
 * proxy. They are missing only if the compiler was run by hand, and the error says what to do.
 *
 * @param folder folder of the files; its URL ends with a slash
 * @throws ConfigError if the dashboard is not built
 */
export function readSite(folder = SITE): SiteFile[] {
  try {
    const assets = readdirSync(new URL('assets/', folder)).map((name) => `assets/${name}`);
    return [fileOf(folder, 'index.html', ''), ...assets.map((name) => fileOf(folder, name, name))];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new ConfigError(['UI is true, but the dashboard is not built: run npm run build, or set UI=false']);
  }
}

function fileOf(folder: URL, name: string, path: string): SiteFile {
  const contentType = CONTENT_TYPES[extname(name)];
  if (contentType === undefined) throw new Error(`no content type is known for ${name} of the dashboard`);
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
