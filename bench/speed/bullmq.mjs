// BullMQ in one process that adds jobs, one or fifty at a time, and works on them, without HTTP. The number of clients is the number
// of concurrent additions and of concurrent jobs.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { payloadOf, serve } from '../load/worker.mjs';

const connect = () => new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('bench', { connection: connect() });
let left = 0;
let onDone;

const workers = new Map();

/** Start a worker with this concurrency, unless it is already running. */
function workWith(concurrency) {
  if (workers.has(concurrency)) return;
  const worker = new Worker('bench', async () => ({ ok: true }), { connection: connect(), concurrency });
  worker.on('completed', () => {
    if (--left === 0) onDone();
  });
  workers.set(concurrency, worker);
}

serve({
  async run({ kind, jobs, clients, payloadBytes }) {
    workWith(clients);
    const payload = payloadOf(payloadBytes);
    left = jobs;
    const done = new Promise((resolve) => {
      onDone = resolve;
    });
    const size = kind === 'batch50' ? 50 : 1;
    const many = Array(size).fill({ name: 'name-0', data: payload });
    const add = () => (size === 1 ? queue.add('name-0', payload) : queue.addBulk(many));
    let next = 0;
    const began = performance.now();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        while (next < jobs) {
          next += size;
          await add();
        }
      }),
    );
    await done;
    return { seconds: (performance.now() - began) / 1000 };
  },
});
