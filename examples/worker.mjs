// A worker for jobs named `resize` in the space `demo`: YARDMASTER_API_KEY=… node examples/worker.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, Yardmaster } from '@yardmaster/sdk';

const worker = new Worker(new Yardmaster({ space: 'demo' }));

worker.on('resize', async ({ payload }, context) => {
  console.log(`Resizing ${payload.image}`);
  await context.progress(50, 'Halfway');
  await sleep(3_000); // The real work goes here.
  return { width: payload.width }; // The job's result. If you throw, the job is retried.
});

await worker.run(); // Until Ctrl-C.
