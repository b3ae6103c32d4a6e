// A worker with one call for each step of a job: YARDMASTER_API_KEY=… node examples/worker-loop.mjs
import { setTimeout as sleep } from 'node:timers/promises';

const { YARDMASTER_URL = 'http://127.0.0.1:8080', YARDMASTER_API_KEY } = process.env;
class JobLost extends Error {}

/** Make a call, and retry it until a response says whether it took effect. */
async function call(path, body = {}, token = undefined) {
  const headers = { 'x-api-key': YARDMASTER_API_KEY, 'content-type': 'application/json' };
  if (token) headers['x-delivery-token'] = token;
  const request = { method: 'POST', headers, body: JSON.stringify(body) };
  for (;;) {
    const signal = AbortSignal.timeout(30_000);
    const response = await fetch(`${YARDMASTER_URL}/api/v1${path}`, { ...request, signal }).catch(() => null);
    const reply = await response?.json().catch(() => null);
    if (reply && (response.ok || reply.code === 'STORAGE_FULL')) return reply; // Full: only the report is lost.
    if (reply && [404, 409].includes(response.status)) throw new JobLost(`${reply.code}: ${reply.error}`);
    if (reply && response.status < 500 && response.status !== 429) throw new Error(`${reply.code}: ${reply.error}`);
    await sleep(1_000 * (Number(response?.headers.get('retry-after')) || 1 + Math.random()));
  }
}

async function sendHeartbeats(report, timeoutSeconds, signal) {
  for (;;) {
    await sleep((1_000 * timeoutSeconds) / 3, null, { signal });
    await report('keepalive'); // One at a time, however long the service is unavailable.
  }
}

async function attempt({ id, payload, timeoutSeconds, deliveryToken }) {
  const report = (verb, body) => call(`/jobs/${id}/${verb}`, body, deliveryToken);
  await report('ack');
  const lost = new AbortController(); // Aborted when a heartbeat is refused.
  const isOver = new AbortController();
  void sendHeartbeats(report, timeoutSeconds, isOver.signal).catch((refusal) => lost.abort(refusal));
  try {
    await report('progress', { percent: 50, message: `Resizing ${payload.image}` });
    await sleep(3_000, null, { signal: lost.signal }); // The work itself.
    await report('complete', { result: { width: payload.width } });
  } catch (error) {
    if (lost.signal.aborted) throw lost.signal.reason;
    if (error instanceof JobLost) throw error;
    await report('fail', { error: error.message });
  } finally {
    isOver.abort();
  }
}

for (;;) {
  const { jobs } = await call('/spaces/demo/jobs/poll', { types: ['resize'], waitSeconds: 20 });
  for (const job of jobs) await attempt(job).catch(({ message }) => process.stderr.write(`${job.id}: ${message}\n`));
}
