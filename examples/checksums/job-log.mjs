/** Entries that wait before they are sent without waiting for the second to be over. */
const BATCH = 100;

const SEND_AFTER_MS = 1_000;

/**
 * Create a log of one attempt. Entries are collected, and sent together: a second after the first of them, or when
 * there are many, or by `flush`. A job does not fail when its logs could not be sent, because logs are only for people.
 *
 * @param source source of the entries
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
    // Send one batch after the other, so that entries stay in order. After a 503, a batch may be stored twice.
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
