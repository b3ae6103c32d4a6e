// A worker of the SDK for TypeScript.
import { Worker, Yardmaster } from '@yardmaster/sdk';

const worker = new Worker(new Yardmaster(), { concurrency: Number(process.env.CONCURRENCY) });
await worker.on('bench', async () => ({ ok: true })).run();
