// A worker with one call for each job: YARDMASTER_API_KEY=… node examples/worker-turn.mjs
import { setTimeout as sleep } from 'node:timers/promises';

const { YARDMASTER_URL = 'http://127.0.0.1:8080', YARDMASTER_API_KEY } = process.env;
const options = { types: ['resize'], autoAck: true, waitSeconds: 20, workerId: `resize-${process.pid}` };

/** Settle outcomes, if any, and claim a job. Retry the call until a response says whether it took effect. */
async function turn(outcomes) {
  const settle = outcomes.length > 0 ? outcomes : undefined;
  const headers = { 'x-api-key': YARDMASTER_API_KEY, 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ ...options, settle }) };
  for (;;) {
    const signal = AbortSignal.timeout(30_000);
    const url = `${YARDMASTER_URL}/api/v1/spaces/demo/jobs/poll`;
    const response = await fetch(url, { ...request, signal }).catch(() => null);
    const reply = await response?.json().catch(() => null);
    if (reply && response.ok) return reply;
    if (reply && response.status < 500 && response.status !== 429) throw new Error(`${reply.code}: ${reply.error}`);
    await sleep(1_000 * (Number(response?.headers.get('retry-after')) || 1 + Math.random()));
  }
}

async function outcomeOf({ id: jobId, payload, deliveryToken }) {
  try {
    await sleep(100); // The work itself.
    return { jobId, deliveryToken, action: 'complete', result: { width: payload.width } };
  } catch (error) {
    return { jobId, deliveryToken, action: 'fail', error: error.message };
  }
}

for (let outcomes = []; ; ) {
  const { jobs, settled = [] } = await turn(outcomes);
  for (const { jobId, error } of settled) if (error) process.stderr.write(`${jobId}: ${error}\n`);
  outcomes = await Promise.all(jobs.map(outcomeOf));
}
