/** Entries that wait before they are sent without waiting for the second to be over. */
const BATCH = 100;

const SEND_AFTER_MS = 1_000;

/**
 * Make a log of one attempt. Entries are gathered, and sent together: a second after the first of them, or when there
 * are many, or by `flush`. Logs are for people: that some could not be sent is no reason to fail the job.
 *
 * @param source what the entries say they come from
 * @returns `{ debug, info, error, flush }`, the first three with `(message, metadata)`
 */
export function createJobLog({ call, jobId, source }) {
  const waiting = [];
  let sending = Promise.resolve();
  let timer = null;

  function flush() {
    clearTimeout(timer);
    timer = null;
    const logs = waiting.splice(0);
    // One after the other, so that they stand in order. A batch that is sent again after a 503 may be there twice.
    if (logs.length > 0) sending = sending.then(() => call('POST', `/jobs/${jobId}/logs`, { logs })).catch(() => {});
    return sending;
  }

  const write = (level) => (message, metadata) => {
    waiting.push({ level, message, metadata, source, timestamp: new Date().toISOString() });
    if (waiting.length >= BATCH) flush();
    else timer ??= setTimeout(flush, SEND_AFTER_MS);
  };
  return { debug: write('debug'), info: write('info'), error: write('error'), flush };
}
