import { resolve } from 'node:path';
import { inParallel } from './in-parallel.mjs';
import { typeOf } from './job-types.mjs';

/** The path in the payload is absolute, so that it means the same wherever a worker runs. */
export const payloadPath = (file) => resolve(file.path);

/**
 * Create one job for each file.
 *
 * A create that is sent again after a 503 may leave two jobs for a file. Both are worked, with the same outcome,
 * and the table shows one.
 */
export async function createJobs({ call, space, files }) {
  await inParallel(files, 16, async (file) => {
    await call('POST', `/spaces/${space}/jobs`, { name: typeOf(file.size), payload: { path: payloadPath(file) } });
  });
}
