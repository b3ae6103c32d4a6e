import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { Webhook } from 'standardwebhooks';
import { respondWith } from '../support/behaviours.js';
import { attemptsOf, historyOf, masterOf, secretOf, sent, settled } from '../support/callbacks.js';
import { freePort } from '../support/free-port.js';
import { createJob, jobIn, step } from '../support/jobs.js';
import { type Received, withReceiver } from '../support/receiver.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readFileSync(`${root}docs/callbacks.md`, 'utf8');
const MASTER = /master secret\s`(whsec_\S+)`/.exec(docs)?.[1] as string;
const OTHER = masterOf('b');
/** Secrets of the space to which the jobs belong. */
const [SECRET, OTHER_SECRET] = [MASTER, OTHER].map((master) => secretOf(master, 'requests')) as [string, string];

/** A service that signs nothing. */
const service = withService();
const signing = withService({ CALLBACK_SIGNING_SECRET: `${MASTER},${OTHER}`, CALLBACK_RETRY_DELAYS: '0.05' });
const receiver = withReceiver();

let count = 0;
/** Return a path that no other test uses. */
const freshPath = () => `/requests/${++count}`;

/** Run a new job up to its end, and return the job and the one request that the receiver got. */
async function endJob(end: 'complete' | 'fail', raw: string | undefined, fields: object = {}, from = service) {
  const path = freshPath();
  const callbackUrl = receiver.script(path, respondWith(204));
  const { id } = await createJob(from, 'requests', { maxRetries: 0, callbackUrl, ...fields });
  await from.call('POST', `/jobs/${id}/claim`);
  await from.call('POST', `/jobs/${id}/ack`);
  expect((await from.call('POST', `/jobs/${id}/${end}`, { raw })).status).toBe(200);
  const job = await settled(from, id);
  const requests = receiver.requestsTo(path);
  expect(requests).toHaveLength(1);
  const request = requests[0] as Received;
  return { job, request, text: request.body.toString() };
}

// biome-ignore lint/suspicious/noExplicitAny: a job as the API gives it
const bodyOf = (job: any, result: unknown) =>
  JSON.stringify({
    jobId: job.id,
    spaceId: 'requests',
    name: job.name,
    status: job.status,
    attemptNumber: job.attemptNumber,
    result,
    timestamp: job.updatedAt,
  });

describe('the body of a callback', () => {
  /** JSON that careless parsing or serialising would change. */
  const FRAGILE = [
    ...['null', 'true', 'false', '0', '1e308', '-1.5e-300', '9007199254740993', '0.1', '""', '"text"', '[]', '{}'],
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
  const SCALARS = ['null', 'true', '0', '""', '"text"', '[]', '{}'];

  it.concurrent.each([undefined, '{}', ...[...SCALARS, `[${FRAGILE}]`].map((value) => `{"result":${value}}`)])(
    'the body of a callback contains the result of a job that was completed with %s',
    async (body) => {
      const { job, text } = await endJob('complete', body);
      const { result = null } = JSON.parse(body ?? '{}');
      expect(text).toBe(bodyOf(job, result));
    },
  );

  it.concurrent.each(['"text"', '""', `{"all":[${FRAGILE.filter((text) => !text.includes('alone'))}]}`])(
    'the body of a callback contains, as its result, the error %s of a dead job',
    async (value) => {
      const { job, text } = await endJob('fail', `{"error":${value}}`);
      expect(text).toBe(bodyOf(job, { error: JSON.parse(value) }));
    },
  );

  it.concurrent.each([
    'quotes" it\'s back\\slash line\nfeed tab\tnul\0 separator\u2028 列車 🚂 %s {{name}} $HOME </script>',
    'ü'.repeat(128),
  ])('the body of a callback contains the name of a job that is called %j', async (name) => {
    const { job, text } = await endJob('complete', '{}', { name });
    expect(text).toBe(bodyOf({ ...job, name }, null));
  });

  it.concurrent.each([
    ['x', 250_000],
    ['ü', 125_000],
    ['🚂', 60_000],
    ['"', 120_000],
  ])('the body of a callback can be as large as a result: %s, %i times', async (letter, times) => {
    const result = letter.repeat(times);
    const { job, text } = await endJob('complete', JSON.stringify({ result }));
    expect(text === bodyOf(job, result)).toBe(true); // Not toBe on the texts, which would print them all.
  });

  it.concurrent('the body of a callback says that the job timed out', async () => {
    const path = freshPath();
    const callbackUrl = receiver.script(path, respondWith(204));
    const fields = { callbackUrl, maxRetries: 0, timeoutSeconds: 0.01 };
    const job = await settled(service, await jobIn(service, 'running', 'requests', fields));
    const error = 'Job timed out after 0.01 seconds without a heartbeat';
    expect(receiver.requestsTo(path).map(({ body }) => body.toString())).toEqual([bodyOf(job, { error })]);
  });

  it.concurrent('the body of a callback says how often the job ran, and is the same for every attempt', async () => {
    const path = freshPath();
    const callbackUrl = receiver.script(path, respondWith(500));
    const { id } = await createJob(service, 'requests', { callbackUrl });
    for (const [verb, body] of [
      ['fail', { error: 'x' }],
      ['complete', { result: 'second' }],
    ] as const) {
      await service.call('POST', `/jobs/${id}/claim`);
      await service.call('POST', `/jobs/${id}/ack`);
      await service.call('POST', `/jobs/${id}/${verb}`, { body });
    }
    const job = await settled(service, id);
    const completed = job.events.find(({ type }: { type: string }) => type === 'completed');
    expect(job).toMatchObject({ attemptNumber: 2, updatedAt: completed.createdAt, completedAt: completed.createdAt });
    const text = bodyOf(job, 'second');
    expect(receiver.requestsTo(path).map(({ body }) => body.toString())).toEqual([text, text]);
  });
});

/** List all headers of a request without callbackHeaders and without a signature. */
const oursOf = ({ body }: Received) => [
  ['connection', 'close'], // Each attempt looks the name up and checks its addresses again.
  ['content-length', `${body.length}`],
  ['content-type', 'application/json'],
  ['host', `127.0.0.1:${receiver.port}`],
  ['user-agent', 'Yardmaster/1.0'],
];

/** Expect our headers and these, each exactly once, with their names in any case. */
function expectHeaders(request: Received, others: Record<string, string> = {}) {
  const lowered = (headers: string[][]) => headers.map(([name, value]) => `${name?.toLowerCase()}: ${value}`).sort();
  expect(lowered(request.headers)).toEqual(lowered([...oursOf(request), ...Object.entries(others)]));
}

describe('the headers of a callback', () => {
  it.concurrent.each([null, {}])(
    'a callback of a job with callbackHeaders %j has only the headers of the service',
    async (callbackHeaders) => {
      expectHeaders((await endJob('complete', '{}', { callbackHeaders })).request);
    },
  );

  const MERGED: [what: string, callbackHeaders: Record<string, string>][] = [
    [
      'that other requests have',
      {
        ...{ Authorization: 'Bearer a.b-c_d==', Accept: 'text/plain;q=0.5, */*', 'Accept-Encoding': 'gzip, br' },
        ...{ Cookie: 'a=b; c=d', Origin: 'https://other.example', Referer: 'https://other.example/a' },
        ...{ 'X-Forwarded-For': '127.0.0.1', Date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'Content-Encoding': 'identity' },
        ...{ Range: 'bytes=0-1', 'If-Match': '"x"' },
      },
    ],
    [
      'with unusual names and values',
      {
        ...{ 'x-empty': '', 'x-list': 'a,\tb, "c"', 'x-latin': 'caf\xe9 \xff', "x-!#$%&'*+.^_`|~9": 'odd' },
        ...{ constructor: 'a', tostring: 'b', hasownproperty: 'c' },
      },
    ],
    ['20 in number', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-h${i}`, `${i}`]))],
    ['of 4 KB', { 'x-large': 'v'.repeat(4_000) }],
  ];

  it.concurrent.each(MERGED)('a callback sends callbackHeaders unchanged: %s', async (_, callbackHeaders) => {
    expectHeaders((await endJob('complete', '{}', { callbackHeaders })).request, callbackHeaders);
  });

  it.concurrent.each([
    { 'user-agent': 'mine', 'content-type': 'text/plain' },
    { 'User-Agent': 'mine', 'Content-Type': 'text/plain' },
    { 'CONTENT-TYPE': 'application/x-www-form-urlencoded', 'uSER-aGENT': '' },
  ])('callbackHeaders %j do not replace Content-Type and User-Agent of a callback', async (given) => {
    const { request } = await endJob('complete', '{}', { callbackHeaders: { ...given, Authorization: 'x' } });
    expectHeaders(request, { authorization: 'x' });
  });

  it.concurrent('the headers of a callback are the same at every attempt', async () => {
    const callbackUrl = receiver.script('/headers', respondWith(503), respondWith(204));
    const callbackHeaders = { Authorization: 'Bearer x' };
    await settled(service, await jobIn(service, 'dead', 'requests', { callbackUrl, callbackHeaders }));
    const [first, second] = receiver.requestsTo('/headers');
    expect(second).toEqual({ ...first, at: expect.any(Number) });
    expectHeaders(first as Received, callbackHeaders);
  });
});

describe('the target of a callback', () => {
  /** The part of callbackUrl after host and port, and the target of the request that the receiver gets. */
  const TARGETS: [rest: string, target: string][] = [
    ['', '/'],
    ['?a=1', '/?a=1'],
    ['/targets/a%2Fb%20c?q=%C3%BC&r=a+b&&=#no', '/targets/a%2Fb%20c?q=%C3%BC&r=a+b&&='],
    ['/targets/ü?ü', '/targets/%C3%BC?%C3%BC'],
    ['/targets//double//', '/targets//double//'],
    ['/targets/../targets/./up', '/targets/up'],
    ["/targets/@:!$&'()*+,;=~", "/targets/@:!$&'()*+,;=~"],
    [`/targets/${'l'.repeat(1_900)}`, `/targets/${'l'.repeat(1_900)}`],
  ];

  it.concurrent.each(TARGETS)(
    'a callback to a URL that ends in %s requests %s, and the history shows the given URL',
    async (rest, target) => {
      const path = target.replace(/\?.*/, '');
      receiver.script(path, respondWith(204));
      const callbackUrl = `HTTP://127.0.0.1:${receiver.port}${rest}`;
      const job = await settled(service, await jobIn(service, 'completed', 'targets', { callbackUrl }));
      const targets = receiver.requestsTo(path).map((request) => request.target);
      expect(targets.filter((each) => each === target)).toEqual([target]);
      expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, [sent(204)]));
    },
  );
});

const namedHeaders = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

/** Expect the three headers of a signature, which must be right for what arrived. */
function expectSignature(request: Received, jobId: string) {
  const named = namedHeaders(request);
  const timestamp = named['webhook-timestamp'] as string;
  const at = new Date(Number(timestamp) * 1_000);
  const { timestamp: endedAt } = JSON.parse(request.body.toString());
  const id = named['webhook-id'] as string;
  expect(id).toMatch(new RegExp(`^msg_${jobId}_\\d{16}_${Date.parse(endedAt)}$`));
  const signatures = [SECRET, OTHER_SECRET].map((secret) => new Webhook(secret).sign(id, at, request.body));
  expect(Object.fromEntries(Object.entries(named).filter(([name]) => name.startsWith('webhook-')))).toEqual({
    'webhook-id': id,
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': signatures.join(' '),
  });
  expect(Math.abs(Number(timestamp) - request.at / 1_000)).toBeLessThan(60);
}

describe('a callback of a service with master secrets', () => {
  const verify = ({ body, named }: { body: Buffer; named: Record<string, string> }, secret: string) =>
    new Webhook(secret).verify(body, named);

  it.each(['complete', 'fail'] as const)(
    'a callback after %s is signed over the bytes that arrive, by a secret of its space from each master secret',
    async (end) => {
      const name = 'unusual "🚂" \u2028 \n';
      const { job, request } = await endJob(end, '{"error":"x"}', { name }, signing);
      const signed = { body: request.body, named: namedHeaders(request) };
      for (const secret of [SECRET, OTHER_SECRET])
        expect(verify(signed, secret)).toMatchObject({ jobId: job.id, name, status: job.status });
      // Neither the master nor the secret of another space, even one whose name begins in the same way.
      for (const secret of [MASTER, OTHER, secretOf(MASTER, 'request'), secretOf(masterOf('c'), 'requests')])
        expect(() => verify(signed, secret)).toThrow('No matching signature found');
      expectSignature(request, job.id);
    },
  );

  it('a receiver refuses a signed callback when one byte is different', async () => {
    const { request } = await endJob('complete', '{}', {}, signing);
    const named = namedHeaders(request);
    for (let i = 0; i < request.body.length; i++) {
      const body = Buffer.from(request.body);
      body[i] = (body[i] as number) ^ 1;
      expect(() => verify({ body, named }, SECRET)).toThrow('No matching signature found');
    }
    for (const name of ['webhook-id', 'webhook-timestamp'] as const) {
      const value = named[name] as string;
      const other = value.slice(0, -1) + (value.endsWith('1') ? '2' : '1');
      expect(() => verify({ ...request, named: { ...named, [name]: other } }, SECRET)).toThrow();
    }
  });

  it('a callback keeps its webhook-id over the retries, and each retry has a new signature', async () => {
    const callbackUrl = receiver.script('/signed', respondWith(500), respondWith(204));
    const id = await jobIn(signing, 'completed', 'requests', { callbackUrl });
    await settled(signing, id);
    const requests = receiver.requestsTo('/signed');
    expect(requests).toHaveLength(2);
    for (const request of requests) expectSignature(request, id);
  });

  it('a job that is created again with its old ID gets a new webhook-id when it ends again', async () => {
    const callbackUrl = receiver.script('/again', respondWith(204));
    const create = () =>
      signing.call('POST', '/spaces/requests/jobs', {
        body: { name: 'work', callbackUrl },
        headers: { 'idempotency-key': 'again' },
      });
    for (let n = 0; n < 2; n++) {
      const { body } = await create();
      for (const verb of ['claim', 'ack', 'complete']) await step(signing, body.id, verb);
      await settled(signing, body.id);
      expectSignature(receiver.requestsTo('/again')[n] as Received, body.id);
      await signing.redis.zadd(signing.store.keys.deadlines(body.id.slice(0, 2)), 1, body.id);
      await until(async () => (await signing.call('GET', `/jobs/${body.id}`)).status === 404);
    }
    const [first, second] = receiver.requestsTo('/again').map((request) => namedHeaders(request)['webhook-id']);
    expect(first?.slice(0, 33)).toBe(second?.slice(0, 33));
    expect(first).not.toBe(second);
  });

  it('a signed callback carries callbackHeaders and the headers of the service', async () => {
    const callbackHeaders = { Authorization: 'Bearer x' };
    const { request } = await endJob('complete', '{}', { callbackHeaders }, signing);
    const signature = Object.entries(namedHeaders(request)).filter(([name]) => name.startsWith('webhook-'));
    expect(signature).toHaveLength(3);
    expectHeaders(request, { ...callbackHeaders, ...Object.fromEntries(signature) });
  });
});

describe('docs/callbacks.md', () => {
  const blockOf = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(docs)?.[1] as string;

  it('docs/callbacks.md shows a request with a valid signature', () => {
    const [head, body = ''] = blockOf('http').trimEnd().split('\n\n');
    const header = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(head as string)?.[1] as string;
    const at = new Date(Number(header('webhook-timestamp')) * 1000);
    const secret = secretOf(MASTER, JSON.parse(body).spaceId);
    expect(docs.replaceAll(/\s+/g, ' ')).toContain(`of the space \`${JSON.parse(body).spaceId}\`, \`${secret}\``);
    expect(header('webhook-signature')).toBe(new Webhook(secret).sign(header('webhook-id'), at, body));
    expect(header('content-length')).toBe(String(Buffer.byteLength(body)));
    const { jobId, timestamp } = JSON.parse(body);
    expect(header('webhook-id')).toMatch(new RegExp(`^msg_${jobId}_\\d{16}_${Date.parse(timestamp)}$`));
  });

  it('docs/callbacks.md shows the default delays of the retries', () => {
    const units = { s: 1, min: 60, h: 3_600 };
    const cells = /^\| after \|(.+)\|$/m.exec(docs)?.[1]?.split('|') ?? [];
    const seconds = cells.map((cell) => {
      const [amount, unit] = cell.trim().split(' ');
      return Number(amount) * units[unit as keyof typeof units];
    });
    expect(seconds.join()).toBe(VARIABLES.CALLBACK_RETRY_DELAYS.default);
  });

  it('docs/callbacks.md shows a receiver that verifies a callback with the secret that the API shows', async () => {
    const { body } = await signing.call('GET', '/spaces/requests/callback-secret');
    expect(body).toEqual({ secrets: [SECRET, OTHER_SECRET] });
    const PORT = String(await freePort());
    const shown = spawn(process.execPath, ['--input-type=module', '-e', blockOf('js')], {
      cwd: root,
      env: { PORT, CALLBACK_SECRET: SECRET },
    });
    let output = '';
    for (const stream of [shown.stdout, shown.stderr]) stream.on('data', (chunk) => (output += chunk));
    try {
      const callbackUrl = `http://127.0.0.1:${PORT}/`;
      const refusal = () => fetch(callbackUrl, { method: 'POST', body: '{}' }).then(({ status }) => status);
      await until(async () => (await refusal().catch(() => 0)) === 401);
      const id = await jobIn(signing, 'completed', 'requests', { callbackUrl });
      expect(attemptsOf(await settled(signing, id))).toEqual(historyOf(callbackUrl, [sent(204)]));
      expect(output).toBe(`${id} is completed: {"answer":42}\n`);
    } finally {
      shown.kill();
    }
  });
});
