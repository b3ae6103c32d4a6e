// A worker for jobs named `resize` in the space `demo`: YARDMASTER_API_KEY=… node examples/worker.mjs
import { setTimeout as sleep } from 'node:timers/promises';

const { YARDMASTER_URL = 'http://127.0.0.1:8080', YARDMASTER_API_KEY } = process.env;

async function call(path, body = {}, token = undefined) {
  const headers = { 'x-api-key': YARDMASTER_API_KEY, 'content-type': 'application/json' };
  if (token) headers['x-delivery-token'] = token; // The call changes nothing when another worker has the job by now.
  const url = `${YARDMASTER_URL}/api/v1${path}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

for (;;) {
  const { jobs } = await call('/spaces/demo/jobs/poll', { types: ['resize'], waitSeconds: 20 });
  for (const { id, payload, deliveryToken } of jobs) {
    const report = (verb, body) => call(`/jobs/${id}/${verb}`, body, deliveryToken);
    await report('ack');
    await report('progress', { percent: 50, message: `Resizing ${payload.image}` });
    await sleep(3_000); // The work itself. If it fails: report('fail', { error: 'disk full' })
    await report('complete', { result: { width: payload.width } });
  }
}
