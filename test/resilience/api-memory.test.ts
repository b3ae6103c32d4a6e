import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { appendEvents } from '../support/job-state.js';
import { jobIn, writeHistory } from '../support/jobs.js';
import { pour, withRaw } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';

const MB = 1_048_576;
// A process of its own, whose memory is measured.
const service = withService({}, { app: 'api', isOwn: true });

/** Return the peak memory of the process. */
const peakMegabytes = () =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process?.child.pid}/status`, 'utf8'))?.[1]) / 1_024;

it('the API does not keep a body over the limit in memory while the rest of it arrives', async () => {
  const head = `POST /api/v1/spaces/memory/jobs HTTP/1.1\r\nHost: x\r\nx-api-key: ${ADMIN_KEY}\r\n`;
  const upload = () =>
    withRaw(service.url, async (raw) => {
      raw.socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
      await pour(raw.socket, 12 * MB);
      expect(await raw.receive(1)).toMatchObject([{ status: 413 }]);
      expect(raw.socket.closed).toBe(false);
    });
  await upload();
  const before = peakMegabytes();
  await Promise.all(Array.from({ length: 32 }, upload));
  // 384 MB arrived on connections that were open at the same time.
  expect(peakMegabytes() - before).toBeLessThan(192);
});

it('the API sends a response that is larger than the unread bytes allowed per API key', async () => {
  const id = await jobIn(service, 'running', 'large');
  await writeHistory(service, id);
  const event = JSON.stringify(['event', Date.now(), 'x'.repeat(65_000)]);
  for (let n = 0; n < 11; n++)
    await appendEvents(service.redis, service.store.keys.job(id), ...Array<string>(100).fill(event));
  const { status, text } = await service.call('GET', `/jobs/${id}`);
  expect(status).toBe(200);
  expect(text.length).toBeGreaterThan(64 * MB);
});
