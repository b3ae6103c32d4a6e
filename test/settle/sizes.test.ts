import { expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { poll, read, settle } from './settle.js';

const service = withService(
  { MAX_PAYLOAD_BYTES: '2048', MAX_BODY_BYTES: '4096', MAX_EVENT_BYTES: '1024', MAX_BATCH_BYTES: '20000' },
  { app: 'api' },
);

const textOf = (bytes: number) => 'x'.repeat(bytes - 2);
const ROWS: [field: string, max: number, item: (text: string) => object][] = [
  ['result', 2_048, (result) => ({ action: 'complete', result })],
  ['error', 1_024, (error) => ({ action: 'fail', error })],
  ['data', 1_024, (data) => ({ action: 'checkpoint', data })],
  ['data', 1_024, (data) => ({ action: 'event', data })],
  ['reason', 1_024, (reason) => ({ action: 'release', reason })],
];

it.each(ROWS)('settle refuses a %s of more than %s bytes, names it, and does nothing', async (field, max, item) => {
  const id = await jobIn(service, 'running', 'sizes');
  const outcomes = (bytes: number) => [
    { jobId: id, action: 'keepalive' },
    { jobId: id, ...item(textOf(bytes)) },
  ];
  const before = await read(service, id);
  const error = (list: string) => ({
    code: 'TOO_LARGE',
    error: `${list}[1].${field} must be at most ${max} bytes of JSON`,
  });
  expect(await settle(service, 'sizes', outcomes(max + 1))).toMatchObject({ status: 413, body: error('outcomes') });
  const polled = await poll(service, 'sizes', { settle: outcomes(max + 1) });
  expect(polled).toMatchObject({ status: 413, body: error('settle') });
  expect(await read(service, id)).toEqual(before);
  const { body } = await settle(service, 'sizes', outcomes(max));
  expect(body.results.map(({ success }: { success: boolean }) => success)).toEqual([true, true]);
});

it('settle refuses a body above MAX_BATCH_BYTES, but accepts one above MAX_BODY_BYTES', async () => {
  const id = await jobIn(service, 'running', 'sizes');
  const outcomes = (count: number) => Array(count).fill({ jobId: id, action: 'event', data: textOf(1_024) });
  expect((await settle(service, 'sizes', outcomes(10))).status).toBe(200);
  expect(await settle(service, 'sizes', outcomes(20))).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
});
