import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchPage, httpUrlOf } from './fetch-page.mjs';
import { textOf } from './text-of.mjs';

/**
 * Return a handler for jobs with the payload `{ urls }`. It stores the text of each page in a file in the folder.
 *
 * The checkpoint `{ files }` lists the complete files, in the order of the URLs, so that the next attempt continues with
 * the page after them.
 */
export const storePages = (folder) => async (job, context) => {
  const urls = job.payload.urls.map(httpUrlOf); // An invalid URL fails the job before any page is fetched.
  const files = context.checkpoint?.files ?? [];
  await mkdir(folder, { recursive: true });
  for (const url of urls.slice(files.length)) {
    await context.progress((100 * files.length) / urls.length, `Fetching ${url.href}`);
    const page = await fetchPage(url, context.signal);
    files.push(await store(folder, url, page.isHtml ? textOf(page.text) : page.text, context.signal));
    await context.save({ files });
  }
  return { files };
};

/** Write the text to a file named after the URL. The rename is atomic, so the file is either complete or missing. */
async function store(folder, url, text, signal) {
  const hash = createHash('sha256').update(url.href).digest('hex');
  const file = join(folder, `${url.hostname.replace(/[^\w.-]/g, '_')}-${hash.slice(0, 16)}.txt`);
  const temporary = join(folder, `.${randomUUID()}`);
  try {
    await writeFile(temporary, text.endsWith('\n') ? text : `${text}\n`);
    signal.throwIfAborted(); // A killed job must not write a file.
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  return file;
}
