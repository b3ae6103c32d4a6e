import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** Often enough for a person who watches, and for the time-out of the job, which each report postpones. */
const REPORT_EVERY_MS = 500;

/**
 * Stream a file through SHA-256.
 *
 * @param report `(percent, message)`, awaited, so a report that throws stops the reading; a tiny file makes one report
 * @returns `{ size, sha256 }` of the bytes that were read
 */
export async function checksum(path, report) {
  const { size: expected } = await stat(path);
  const hash = createHash('sha256');
  let size = 0;
  let reportedAt = performance.now();
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    hash.update(chunk);
    size += chunk.length;
    if (performance.now() - reportedAt >= REPORT_EVERY_MS) {
      // The file may have grown since.
      await report(Math.min(100, (100 * size) / expected), `read ${size} of ${expected} bytes`);
      reportedAt = performance.now();
    }
  }
  await report(100, `read all ${size} bytes`);
  return { size, sha256: hash.digest('hex') };
}
