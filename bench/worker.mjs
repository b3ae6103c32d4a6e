// What the processes of a measurement share, however little else they load: a clock, an open loop, commands by message.

/** Milliseconds since the epoch, comparable between the processes of one machine. */
export const now = () => performance.timeOrigin + performance.now();

/** A payload of so many bytes of JSON. */
export const payloadOf = (bytes) => ({ text: 'x'.repeat(Math.max(0, bytes - '{"text":""}'.length)) });

/** Serve the commands that `startWorker` of processes.mjs sends: functions of their options, by name. */
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
 * Start something so many times a second for a while, however long each takes: an open loop.
 *
 * @param start `(n, dueAt)`: counted from 0, and when it should begin, by `now()`. It is called late when this process
 *   is late, so count time from `dueAt`
 */
export async function atEvenRate({ rate, seconds, from = now() }, start) {
  const dueAt = (n) => from + (n / rate) * 1000;
  const count = Math.round(rate * seconds);
  for (let n = 0; n < count; ) {
    for (; n < count && dueAt(n) <= now(); n++) start(n, dueAt(n));
    // Timers are of whole milliseconds; setTimeout makes one of 0.
    if (n < count) await new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.floor(dueAt(n) - now()))));
  }
}
