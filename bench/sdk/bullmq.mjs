// A BullMQ worker.
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

const connection = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
new Worker('bench', async () => ({ ok: true }), { connection, concurrency: Number(process.env.CONCURRENCY) });
