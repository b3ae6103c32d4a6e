import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, type Behaviour } from '../support/behaviours.js';
import { attemptsTo, historyOf, ofEach, sent } from '../support/callbacks.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';

// What follows from the status of an answer (contract §7).

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05,0.05' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

/** How often a URL is called when every attempt is to be retried: once, and once after each delay. */
const ALL = 3;

/** Send a callback to a receiver that behaves so, and expect these attempts, each of which is one POST. */
async function expectAttempts(path: string, behaviours: Behaviour[], attempts: ReturnType<typeof sent>[]) {
  const url = receiver.script(path, ...behaviours);
  expect(await attemptsTo(service, url)).toEqual(historyOf(url, attempts));
  expect(receiver.requestsTo(path).map(({ method }) => method)).toEqual(attempts.map(() => 'POST'));
}

/** Every status between the named ones is treated as they are. */
const FINAL = [
  ...[200, 201, 202, 203, 204, 205, 206, 207, 226, 299],
  ...[300, 301, 302, 303, 304, 305, 307, 308, 399],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423],
  ...[424, 426, 428, 431, 451, 499, 600, 999],
];
const RETRIED = [408, 425, 429, 500, 501, 502, 503, 504, 505, 506, 507, 508, 511, 520, 599];

describe('an answer', () => {
  it.each(FINAL)('of %i is final', async (status) => {
    await expectAttempts(`/final/${status}`, [answer(status)], [sent(status)]);
  });

  it.each(RETRIED)('of %i is retried until the delays are used up', async (status) => {
    const attempts = ofEach(ALL, (attempt, willRetry) => sent(status, attempt, willRetry));
    await expectAttempts(`/retried/${status}`, [answer(status)], attempts);
  });

  it.each([
    ['success', 200],
    ['a refusal', 410],
  ])('that is %s ends the retries', async (_, status) => {
    const attempts = [sent(500, 1, true), sent(status, 2)];
    await expectAttempts(`/then/${status}`, [answer(500), answer(status)], attempts);
  });

  it('may be another one each time', async () => {
    const attempts = [sent(503, 1, true), sent(429, 2, true), sent(408, 3)];
    await expectAttempts('/changing', [answer(503), answer(429), answer(408)], attempts);
  });

  it.each([301, 302, 303, 307, 308])('of %i is not followed to its Location', async (status) => {
    const other = await startReceiver();
    const location = other.script(`/${status}`, answer(200));
    await expectAttempts(`/redirect/${status}`, [answer(status, { location })], [sent(status)]);
    expect(other.connections()).toBe(0);
    await other.close();
  });
});

describe('Retry-After', () => {
  /** What the header says, and the time before which it forbids another attempt. */
  const FORMS: [form: string, ask: () => { value: string; until: number }][] = [
    ['seconds', () => ({ value: '1', until: Date.now() + 1_000 })],
    [
      'a-date',
      () => {
        const value = new Date(Date.now() + 2_000).toUTCString();
        return { value, until: Date.parse(value) };
      },
    ],
  ];

  it.each(FORMS)('of 429 is waited for, in %s', async (form, ask) => {
    const path = `/wait/${form}`;
    let asked = { value: '', until: Number.POSITIVE_INFINITY };
    const tooMany: Behaviour = (response) => {
      asked = ask();
      response.writeHead(429, { 'retry-after': asked.value }).end();
    };
    await expectAttempts(path, [tooMany, answer(204)], [sent(429, 1, true), sent(204, 2)]);
    expect(receiver.requestsTo(path)[1]?.at).toBeGreaterThanOrEqual(asked.until);
  });

  it.each(['0', '-1', 'soon', '', '1e3', '0.5', '1, 2', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Thu, 99 Foo 9999'])(
    'of 429 that says nothing to wait for changes nothing: %j',
    async (value) => {
      const path = `/nothing/${encodeURIComponent(value)}`;
      const attempts = [sent(429, 1, true), sent(204, 2)];
      await expectAttempts(path, [answer(429, { 'retry-after': value }), answer(204)], attempts);
    },
  );

  it.each([408, 425, 500, 503])('of %i is waited for as well', async (status) => {
    const path = `/wait/${status}`;
    let asked = Number.POSITIVE_INFINITY;
    const later: Behaviour = (response) => {
      asked = Date.now() + 1_000;
      response.writeHead(status, { 'retry-after': '1' }).end();
    };
    await expectAttempts(path, [later, answer(204)], [sent(status, 1, true), sent(204, 2)]);
    expect(receiver.requestsTo(path)[1]?.at).toBeGreaterThanOrEqual(asked);
  });

  it('of 429 at the last attempt makes no other', async () => {
    const attempts = [sent(500, 1, true), sent(500, 2, true), sent(429, 3)];
    await expectAttempts('/last', [answer(500), answer(500), answer(429, { 'retry-after': '0' })], attempts);
  });

  it('of an answer that is final does not make it be retried', async () => {
    await expectAttempts('/final-after', [answer(404, { 'retry-after': '0' })], [sent(404)]);
  });
});
