// A clock, an open loop, and commands by message, for the processes of a measurement. This module has no imports.

/** Return epoch milliseconds, comparable between processes of the same machine. */
export const now = () => performance.timeOrigin + performance.now();

/** Create a payload with this number of bytes of JSON. */
export const payloadOf = (bytes) => ({ text: 'x'.repeat(Math.max(0, bytes - '{"text":""}'.length)) });

/** Serve the commands sent by `startWorker` of processes.mjs: functions of their options, by name. */
export function serve(commands) {
  process.on('message', async ({ id, command, options }) => {
    try {
      process.send({ id, value: (await commands[command](options)) ?? null });
    } catch (error) {
      process.send({ id, error: String(error?.stack ?? error) });
    }
  });
}

/**
 * Start something at a constant rate, however long each call takes: an open loop.
 *
 * @param start `(n, dueAt)`: number from 0, and when the call is due, by `now()`. The call may be late, so measure from `dueAt`
 */
export async function atEvenRate({ rate, seconds, from = now() }, start) {
  const dueAt = (n) => from + (n / rate) * 1000;
  const count = Math.round(rate * seconds);
  for (let n = 0; n < count; ) {
    for (; n < count && dueAt(n) <= now(); n++) start(n, dueAt(n));
    // Timers have whole milliseconds, and setTimeout rounds 0 up to 1.
    if (n < count) await new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.floor(dueAt(n) - now()))));
  }
}
