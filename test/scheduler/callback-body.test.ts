import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { readJob, settled } from '../support/callbacks.js';
import { createJob, jobIn } from '../support/jobs.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05,0.05', MAX_EVENT_BYTES: '262144' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

let count = 0;
/** A path that no other test uses. */
const freshPath = () => `/${++count}`;

/** Run a new job up to its end, and return what the receiver got, as text, and the job. */
async function told(end: 'complete' | 'fail', body: string | undefined, fields: object = {}) {
  const path = freshPath();
  const callbackUrl = receiver.script(path, answer(204));
  const { id } = await createJob(service, 'bodies', { maxRetries: 0, callbackUrl, ...fields });
  await service.call('POST', `/jobs/${id}/claim`);
  await service.call('POST', `/jobs/${id}/ack`);
  const ended = await service.call('POST', `/jobs/${id}/${end}`, { raw: body });
  expect(ended.status).toBe(200);
  const job = await settled(service, id);
  return { job, texts: receiver.requestsTo(path).map((request) => request.body.toString()) };
}

// biome-ignore lint/suspicious/noExplicitAny: a job as the API gives it
const expected = (job: any, result: unknown) =>
  JSON.stringify({
    jobId: job.id,
    spaceId: 'bodies',
    name: job.name,
    status: job.status,
    attemptNumber: job.attemptNumber,
    result,
    timestamp: job.updatedAt,
  });

/** JSON that is easily damaged on its way. */
const VALUES = [
  'null',
  'true',
  'false',
  '0',
  '1e308',
  '-1.5e-300',
  '9007199254740993',
  '0.1',
  '""',
  '"text"',
  '[]',
  '{}',
  '[[],{},[{}],[[]]]',
  '{"a":[],"b":{},"c":null}',
  '{"z":1,"a":{"z":1,"a":2}}',
  '{"__proto__":{"x":1},"constructor":2,"toJSON":3}',
  '{"":"","jobId":"other","timestamp":"never","result":{"result":1}}',
  '"quotes \\" and \\\\ and / and \\u0000 and \\n\\r\\t"',
  '"\\ud83d alone \\udc00"',
  '"\\u2028\\u2029\\ufeff\\u00a0"',
  '"Zug 🚂 ünïcødé 列車 \\u202e\\u0301"',
  '"</script>%s{{}}`$(id)`"',
  '{"ключ 🔑":["значение"]}',
  `${'['.repeat(60)}${']'.repeat(60)}`,
];

describe('the body', () => {
  it.each([undefined, '{}', ...VALUES.map((value) => `{"result":${value}}`)])(
    'of a job completed with %s',
    async (body) => {
      const { job, texts } = await told('complete', body);
      const { result = null } = JSON.parse(body ?? '{}');
      expect(texts).toEqual([expected(job, result)]);
      expect(Object.keys(JSON.parse(texts[0] as string))).toEqual([
        ...['jobId', 'spaceId', 'name', 'status', 'attemptNumber', 'result', 'timestamp'],
      ]);
    },
  );

  const ERRORS = VALUES.filter((value) => /^["{]/.test(value));
  it.each(ERRORS)('of a job dead with %s', async (value) => {
    const { job, texts } = await told('fail', `{"error":${value}}`);
    expect(texts).toEqual([expected(job, { error: JSON.parse(value) })]);
  });

  it.each([
    'with "quotes"',
    "it's",
    'back\\slash',
    'line\nfeed',
    'tab\tnul\0',
    'separator\u2028',
    '列車 🚂',
    '%s {{name}} $HOME',
    '</script>',
    'ü'.repeat(128),
  ])('of a job called %j', async (name) => {
    const { job, texts } = await told('complete', '{}', { name });
    expect(texts).toEqual([expected({ ...job, name }, null)]);
  });

  it('of a job dead by its time-out says so', async () => {
    const path = freshPath();
    const callbackUrl = receiver.script(path, answer(204));
    const fields = { callbackUrl, maxRetries: 0, timeoutSeconds: 0.01 };
    const job = await settled(service, await jobIn(service, 'running', 'bodies', fields));
    const error = 'Job timed out after 0.01 seconds without a heartbeat';
    expect(receiver.requestsTo(path).map(({ body }) => body.toString())).toEqual([expected(job, { error })]);
  });

  it('tells how often the job was run', async () => {
    const path = freshPath();
    const callbackUrl = receiver.script(path, answer(204));
    const { id } = await createJob(service, 'bodies', { callbackUrl });
    for (const [verb, body] of [
      ['fail', { error: 'x' }],
      ['complete', { result: 'second' }],
    ] as const) {
      await service.call('POST', `/jobs/${id}/claim`);
      await service.call('POST', `/jobs/${id}/ack`);
      await service.call('POST', `/jobs/${id}/${verb}`, { body });
    }
    const job = await settled(service, id);
    expect(job.attemptNumber).toBe(2);
    expect(receiver.requestsTo(path).map(({ body }) => body.toString())).toEqual([expected(job, 'second')]);
  });

  it('tells of the end, whenever it is sent: the bytes are the same at every attempt', async () => {
    const path = freshPath();
    const callbackUrl = receiver.script(path, answer(500));
    const id = await jobIn(service, 'completed', 'bodies', { callbackUrl });
    await settled(service, id);
    const job = await readJob(service, id);
    const completed = job.events.find(({ type }: { type: string }) => type === 'completed');
    expect([job.updatedAt, job.completedAt]).toEqual([completed.createdAt, completed.createdAt]);
    const text = expected(job, { answer: 42 });
    expect(receiver.requestsTo(path).map(({ body }) => body.toString())).toEqual([text, text, text]);
  });

  it.each([
    ['x', 250_000],
    ['ü', 125_000],
    ['🚂', 60_000],
    ['"', 120_000],
  ])('may be as large as results are: %s, %i times', async (letter, times) => {
    const result = letter.repeat(times);
    const { job, texts } = await told('complete', JSON.stringify({ result }));
    // Not toEqual, which would print it all.
    expect(texts.map((text) => text === expected(job, result))).toEqual([true]);
  });
});
