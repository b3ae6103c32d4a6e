// BullMQ in one process, which adds jobs and works them through: no HTTP, and so many additions and jobs at once as there
// are clients.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const connect = () => new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('bench', { connection: connect() });
let left = 0;
let onDone;

const workers = new Map();

/** Have a worker with so many jobs at once. */
function workWith(concurrency) {
  if (workers.has(concurrency)) return;
  const worker = new Worker('bench', async () => ({ ok: true }), { connection: connect(), concurrency });
  worker.on('completed', () => {
    if (--left === 0) onDone();
  });
  workers.set(concurrency, worker);
}

async function run({ jobs, clients, payloadBytes }) {
  workWith(clients);
  const payload = { text: 'x'.repeat(Math.max(0, payloadBytes - '{"text":""}'.length)) };
  left = jobs;
  const done = new Promise((resolve) => {
    onDone = resolve;
  });
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next++ < jobs) await queue.add('name-0', payload);
    }),
  );
  await done;
  return { seconds: (performance.now() - began) / 1000 };
}

process.on('message', async (load) => {
  process.send(await run(load).catch((error) => ({ error: String(error) })));
});
