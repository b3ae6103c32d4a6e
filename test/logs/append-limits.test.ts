import { afterEach, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, appended, asJson, entriesOf, gzipped, readLogs, written } from './entries.js';
import { expectRefused, tooLarge } from './refusals.js';

let service: TestService;
afterEach(() => service.stop());

const startWith = async (env: Record<string, string>) => {
  service = await startService(env);
  return (await createJob(service, 'limits')).id;
};
const padded = (bytes: number) => asJson('["a"]'.padEnd(bytes));

it('MAX_LOG_ENTRIES says how many entries a batch may have', async () => {
  const id = await startWith({ MAX_LOG_ENTRIES: '3' });
  await expectRefused(service, written('an array', entriesOf(4)), tooLarge('logs must have at most 3 entries'));
  await expectRefused(service, written('NDJSON', entriesOf(4)), tooLarge('logs must have at most 3 entries'));
  expect(await append(service, id, written('NDJSON', entriesOf(3)))).toMatchObject(appended(3));
});

it('MAX_LOG_ENTRIES may be 5 000', async () => {
  const id = await startWith({ MAX_LOG_ENTRIES: '5000' });
  const entries = entriesOf(5_000);
  expect(await append(service, id, gzipped(written('NDJSON', entries)))).toMatchObject(appended(5_000));
  expect(await readLogs(service, id)).toHaveLength(5_000);
  await expectRefused(
    service,
    gzipped(written('NDJSON', entriesOf(5_001))),
    tooLarge('logs must have at most 5000 entries'),
  );
});

it('MAX_LOG_WIRE_BYTES says how many bytes may be on the wire', async () => {
  const id = await startWith({ MAX_LOG_WIRE_BYTES: '2048' });
  await expectRefused(service, padded(2_049), tooLarge('body must be at most 2048 bytes'));
  expect(await append(service, id, padded(2_048))).toMatchObject(appended(1));
  expect(await append(service, id, gzipped(padded(1_000_000)))).toMatchObject(appended(1, 2));
});

it('MAX_LOG_BATCH_BYTES says how many bytes a batch may inflate to', async () => {
  const id = await startWith({ MAX_LOG_BATCH_BYTES: '4096' });
  const refusal = tooLarge('body must be at most 4096 bytes inflated');
  await expectRefused(service, gzipped(padded(4_097)), refusal);
  await expectRefused(service, padded(4_097), refusal);
  expect(await append(service, id, gzipped(padded(4_096)))).toMatchObject(appended(1));
});

it('MAX_LOG_ENTRY_BYTES says how large an entry may be', async () => {
  const id = await startWith({ MAX_LOG_ENTRY_BYTES: '1024' });
  const refusal = tooLarge('logs[1] must be at most 1024 bytes of JSON');
  await expectRefused(service, { body: ['a', 'x'.repeat(1_025)] }, refusal);
  expect(await append(service, id, { body: ['a', 'x'.repeat(900)] })).toMatchObject(appended(2));
});

it('those of other bodies are not those of logs', async () => {
  const id = await startWith({ MAX_BODY_BYTES: '1024', MAX_EVENT_BYTES: '1024', MAX_PAYLOAD_BYTES: '1024' });
  expect(await append(service, id, padded(1_048_576))).toMatchObject(appended(1));
  expect(await append(service, id, { body: ['x'.repeat(16_000)] })).toMatchObject(appended(1, 2));
});

it('those of logs are not those of other bodies', async () => {
  const id = await startWith({ MAX_LOG_WIRE_BYTES: '1024', MAX_LOG_BATCH_BYTES: '1024', MAX_LOG_ENTRY_BYTES: '1024' });
  await service.call('POST', `/jobs/${id}/claim`);
  await service.call('POST', `/jobs/${id}/ack`);
  const event = await service.call('POST', `/jobs/${id}/event`, { body: 'x'.repeat(60_000) });
  expect(event).toMatchObject({ status: 200, body: { success: true } });
});
