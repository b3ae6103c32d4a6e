// node load.mjs rate seconds key url… : runs so many jobs a second through their whole life and prints what it counted.
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const [rate, seconds] = process.argv.slice(2, 4).map(Number);
const [key, ...urls] = process.argv.slice(4);
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const payload = { text: 'x'.repeat(185) };

let failed = 0;

function call(base, path, body) {
  const text = JSON.stringify(body ?? {});
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const request = http.request(`${base}/api/v1${path}`, { method: 'POST', agent, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (answer += chunk));
      response.on('end', () => {
        if (response.statusCode >= 300) failed++;
        resolve(JSON.parse(answer));
      });
    });
    request.on('error', reject);
    request.end(text);
  });
}

/** @returns milliseconds that it took */
async function cycle(n) {
  const base = urls[n % urls.length];
  const space = `space-${n % 50}`;
  const began = performance.now();
  await call(base, `/spaces/${space}/jobs`, { name: 'work', payload });
  const { jobs } = await call(base, `/spaces/${space}/jobs/poll`);
  for (const { id } of jobs) {
    await call(base, `/jobs/${id}/ack`);
    await call(base, `/jobs/${id}/progress`, { percent: 50, message: 'half' });
    await call(base, `/jobs/${id}/complete`, { result: { ok: true } });
  }
  return performance.now() - began;
}

const took = [];
const open = new Set();
const began = performance.now();
for (let n = 0; n < rate * seconds; n++) {
  const ahead = began + (n / rate) * 1000 - performance.now();
  if (ahead > 1) await delay(ahead);
  while (open.size >= 64) await Promise.race(open); // It cannot keep up: the rate is then what it can.
  const one = cycle(n).then((ms) => took.push(ms));
  open.add(one);
  void one.finally(() => open.delete(one));
}
await Promise.all(open);
const elapsedMs = performance.now() - began;
agent.destroy();
took.sort((a, b) => a - b);
const at = (share) => took[Math.floor(took.length * share)];
process.stdout.write(JSON.stringify({ jobs: took.length, failed, elapsedMs, p50: at(0.5), p99: at(0.99) }));
