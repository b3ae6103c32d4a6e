// Running jobs with a stream each, and their progress.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** No job of these is timed out or ends. */
const TIMEOUT_SECONDS = 86_400;

/**
 * Make running jobs, and watch each of them from another process.
 *
 * @returns `report(timed)`, the function that sends one progress after the other; `end`, which tells what came
 */
export async function watchJobs({ call, gatewayUrl, key, count }) {
  const ids = [];
  for (let n = 0; n < count; n++) {
    const request = { name: 'watched', timeoutSeconds: TIMEOUT_SECONDS };
    const { body: job } = await call('POST', '/spaces/watched/jobs', request);
    await call('POST', `/jobs/${job.id}/claim`);
    await call('POST', `/jobs/${job.id}/ack`);
    ids.push(job.id);
  }
  const watchers = fork(fileURLToPath(new URL('watchers.mjs', import.meta.url)));
  watchers.send({ gatewayUrl, key, ids });
  await once(watchers, 'message');
  let sent = 0;
  return {
    sent: () => sent,
    report: (timed) => async (n, dueAt) => {
      sent++;
      // The message says when it should have been sent.
      const body = { percent: 50, message: String(dueAt) };
      await timed('progress → answer', dueAt, `/jobs/${ids[n % ids.length]}/progress`, body);
    },
    async end() {
      watchers.send('end');
      const [told] = await once(watchers, 'message');
      watchers.disconnect();
      for (const id of ids) await call('POST', `/jobs/${id}/complete`, {});
      return told;
    },
  };
}
