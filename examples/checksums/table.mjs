import { payloadPath } from './producer.mjs';

/**
 * Make one row for each file, for any outcome of its job.
 *
 * @param files sorted, as `findFiles` returns them
 * @param jobs of the space, newest first; a file takes its newest job
 * @returns `{ path, state, size, sha256, attempts, jobId }`; state `lost` for a file without a job, which must not be
 */
export function rowsOf(files, jobs) {
  const newest = new Map();
  for (const job of jobs) {
    const path = job.payload?.path;
    if (!newest.has(path)) newest.set(path, job);
  }
  return files.map((file) => rowOf(file, newest.get(payloadPath(file))));
}

const rowOf = ({ path, size }, job) => ({
  path,
  state: job?.status ?? 'lost',
  size: job?.result?.size ?? size,
  sha256: job?.result?.sha256 ?? null,
  attempts: job?.attemptNumber ?? 0,
  jobId: job?.id ?? null,
});

/** The path comes last, because a long one, or one of wide characters, then moves nothing out of its column. */
export function tableOf(rows) {
  const lines = rows.map(({ path, state, size, sha256, attempts, error }) => {
    const text = printable(error ? `${path}  (${error})` : path);
    return `${String(size).padStart(14)}  ${(sha256 ?? '-').padEnd(64)}  ${String(attempts).padStart(8)}  ${state.padEnd(9)}  ${text}`;
  });
  return [`${'SIZE'.padStart(14)}  ${'SHA256'.padEnd(64)}  ATTEMPTS  ${'STATE'.padEnd(9)}  PATH`, ...lines].join('\n');
}

export function totalsOf(rows, seconds) {
  const count = (isCounted) => rows.filter(isCounted).length;
  const completed = rows.filter(({ state }) => state === 'completed');
  const bytes = completed.reduce((sum, { size }) => sum + size, 0);
  const others = ['killed', 'lost'].map((state) => [state, count((row) => row.state === state)]);
  return [
    `${rows.length} files`,
    `${bytes} bytes`,
    `${seconds.toFixed(1)} seconds`,
    `${Math.round(rows.length / seconds)} files per second`,
    `${count(({ attempts }) => attempts > 1)} retried`,
    `${count(({ state }) => state === 'dead')} dead`,
    ...others.filter(([, number]) => number > 0).map(([state, number]) => `${number} ${state}`),
  ].join(', ');
}

/** A line as `sha256sum` writes it, with its backslash in front of the line when the name had to be escaped. */
export function sha256sumLine({ path, sha256 }) {
  const escaped = path.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${escaped === path ? '' : '\\'}${sha256}  ${escaped}\n`;
}

/** File names may contain anything, such as sequences that move the cursor of a terminal. */
const printable = (text) => text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
