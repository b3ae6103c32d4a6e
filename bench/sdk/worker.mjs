// A worker with the TypeScript SDK.
import { Worker, Yardmaster } from '@yardmaster/sdk';

const worker = new Worker(new Yardmaster(), { concurrency: Number(process.env.CONCURRENCY) });
await worker.on('bench', async () => ({ ok: true })).run();
