// A worker process. It can be killed at any moment: its jobs time out, and other workers get them.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Worker, Yardmaster } from '@yardmaster/sdk';

// With autoAck, the timeout of a job starts at the poll, so all jobs of a killed worker are requeued after that time.
const worker = new Worker(new Yardmaster(), { concurrency: 4, autoAck: true, drain: '2s' });

worker.on('checksum', async ({ payload: { path, killsWorker }, attempt }, { log, progress, signal }) => {
  log.info(`Reading ${path}`, { attempt, pid: process.pid });
  const { size: expected } = await stat(path);
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 256 * 1024 })) {
    hash.update(chunk);
    size += chunk.length;
    // The file may have grown in the meantime.
    await progress(Math.min(100, (100 * size) / expected), `Read ${size} of ${expected} bytes`);
  }
  if (killsWorker && attempt === 1) process.kill(process.pid, 'SIGKILL');
  const sha256 = hash.digest('hex');
  log.info(`SHA-256 is ${sha256}`, { size });
  return { sha256, size };
});

// The main process stops its workers by closing the channel, which also happens when it is killed.
process.on('disconnect', () => worker.stop());
if (process.connected) await worker.run();
process.exit();
