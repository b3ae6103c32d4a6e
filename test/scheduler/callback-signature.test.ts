import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { answer } from '../support/behaviours.js';
import { settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type Received, type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';

const secretOf = (byte: string) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [SECRET, OTHER, UNUSED] = [secretOf('a'), secretOf('b'), secretOf('c')] as [string, string, string];

let service: TestService;
let receiver: Receiver;
afterEach(async () => {
  await service.stop();
  await receiver.close();
});

interface Signed extends Received {
  jobId: string;
  /** By lower-case name. */
  named: Record<string, string>;
}

/** Start a service with these secrets, end a job, and return what the receiver got. */
async function requestsSignedWith(
  secrets: string | undefined,
  { behaviours = [answer(204)], status = 'completed' as 'completed' | 'dead', fields = {} } = {},
): Promise<Signed[]> {
  receiver = await startReceiver();
  const env = secrets === undefined ? {} : { CALLBACK_SIGNING_SECRET: secrets };
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05,0.05', ...env });
  const callbackUrl = receiver.script('/', ...behaviours);
  const jobId = await jobIn(service, status, 'signed', { callbackUrl, ...fields });
  await settled(service, jobId);
  return receiver.requestsTo('/').map((request) => ({
    ...request,
    jobId,
    named: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
  }));
}

const signatureHeaders = ({ named }: Signed) =>
  Object.fromEntries(Object.entries(named).filter(([name]) => name.startsWith('webhook-')));

/** All three headers, signed anew from what arrived. */
function expectSignature(request: Signed, secrets: string[]) {
  const id = `msg_${request.jobId}`;
  const timestamp = request.named['webhook-timestamp'] as string;
  const at = new Date(Number(timestamp) * 1_000);
  expect(signatureHeaders(request)).toEqual({
    'webhook-id': id,
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, request.body)).join(' '),
  });
}

const verify = ({ body, named }: { body: Buffer; named: Record<string, string> }, secret: string) =>
  new Webhook(secret).verify(body, named);

describe('a callback that is signed', () => {
  it('is accepted by a receiver that keeps to Standard Webhooks', async () => {
    const [request] = (await requestsSignedWith(SECRET)) as [Signed];
    expect(verify(request, SECRET)).toEqual(JSON.parse(request.body.toString()));
    expectSignature(request, [SECRET]);
  });

  it.each(['completed', 'dead'] as const)('is signed over the very bytes that arrive, of a %s job', async (status) => {
    const fields = { name: 'unusual "🚂" \u2028 \n' };
    const [request] = (await requestsSignedWith(SECRET, { status, fields })) as [Signed];
    expect(verify(request, SECRET)).toMatchObject({ jobId: request.jobId, name: fields.name, status });
    expectSignature(request, [SECRET]);
  });

  it('is refused by the receiver once a byte is another one', async () => {
    const [request] = (await requestsSignedWith(SECRET)) as [Signed];
    for (let i = 0; i < request.body.length; i++) {
      const body = Buffer.from(request.body);
      body[i] = (body[i] as number) ^ 1;
      expect(() => verify({ ...request, body }, SECRET)).toThrow('No matching signature found');
    }
    for (const name of ['webhook-id', 'webhook-timestamp'] as const) {
      const value = request.named[name] as string;
      const last = Number(value.at(-1)) === 1 ? '2' : '1';
      const named = { ...request.named, [name]: value.slice(0, -1) + last };
      expect(() => verify({ ...request, named }, SECRET)).toThrow('No matching signature found');
    }
    expect(() => verify(request, UNUSED)).toThrow('No matching signature found');
  });

  it('keeps its id over the retries and is signed at each anew', async () => {
    const requests = await requestsSignedWith(SECRET, { behaviours: [answer(500), answer(503), answer(204)] });
    expect(requests).toHaveLength(3);
    for (const request of requests) expectSignature(request, [SECRET]);
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
    for (const request of requests) {
      const sentAt = Number(request.named['webhook-timestamp']);
      expect(Math.abs(sentAt - request.at / 1_000)).toBeLessThan(60);
    }
  });

  it('carries a signature for each of several secrets, in their order', async () => {
    const [request] = (await requestsSignedWith(`${SECRET},${OTHER}`)) as [Signed];
    expectSignature(request, [SECRET, OTHER]);
    for (const secret of [SECRET, OTHER]) verify(request, secret);
    expect(() => verify(request, UNUSED)).toThrow('No matching signature found');
  });

  it('carries the callbackHeaders and ours besides', async () => {
    const fields = { callbackHeaders: { Authorization: 'Bearer x', 'user-agent': 'mine' } };
    const [request] = (await requestsSignedWith(SECRET, { fields })) as [Signed];
    expect(Object.keys(request.named).sort()).toEqual([
      ...['authorization', 'connection', 'content-length', 'content-type', 'host', 'user-agent'],
      ...['webhook-id', 'webhook-signature', 'webhook-timestamp'],
    ]);
    expect(request.headers).toHaveLength(9);
    verify(request, SECRET);
  });
});

describe('a callback that is not signed', () => {
  it('carries none of the headers of a signature', async () => {
    const [request] = (await requestsSignedWith(undefined)) as [Signed];
    expect(signatureHeaders(request)).toEqual({});
  });
});
