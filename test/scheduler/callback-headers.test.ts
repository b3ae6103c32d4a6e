import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, sent, settled } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { type Received, type Receiver, startReceiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ CALLBACK_RETRY_DELAYS: '0.05' });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

let count = 0;
/** Complete a job with these callbackHeaders, and return the request that the receiver got. */
async function requestWith(callbackHeaders: Record<string, string> | null): Promise<Received> {
  const path = `/headers/${++count}`;
  const callbackUrl = receiver.script(path, answer(204));
  await settled(service, await jobIn(service, 'completed', 'headers', { callbackUrl, callbackHeaders }));
  const requests = receiver.requestsTo(path);
  expect(requests).toHaveLength(1);
  return requests[0] as Received;
}

const lowered = (headers: Received['headers']) => headers.map(([name, value]) => [name.toLowerCase(), value]);

/** All that a request carries without callbackHeaders and without a signature (spec §6.3.3). */
const oursOf = ({ body }: Received) => [
  ['connection', 'close'], // Each attempt looks up and checks anew.
  ['content-length', `${body.length}`],
  ['content-type', 'application/json'],
  ['host', `127.0.0.1:${receiver.port}`],
  ['user-agent', 'Yardmaster/1.0'],
];

/** Expect ours and these, each once. */
function expectHeaders(request: Received, others: string[][]) {
  const byName = ([a]: unknown[], [b]: unknown[]) => ((a as string) < (b as string) ? -1 : 1);
  expect(lowered(request.headers).sort(byName)).toEqual([...oursOf(request), ...others].sort(byName));
}

describe('a callback', () => {
  it.each([
    ['no callbackHeaders', null],
    ['empty callbackHeaders', {}],
  ])('with %s carries the headers of the specification and no others', async (_, given) => {
    expectHeaders(await requestWith(given), []);
  });

  /** They arrive as they are, under the name they were given in whatever case. */
  const MERGED: [what: string, headers: Record<string, string>][] = [
    ['Authorization', { Authorization: 'Bearer a.b-c_d==' }],
    ['Accept', { Accept: 'text/plain;q=0.5, */*' }],
    ['Accept-Encoding', { 'Accept-Encoding': 'gzip, br' }],
    ['Cookie', { Cookie: 'a=b; c=d' }],
    ['several', { Authorization: 'Basic YTpi', 'X-Trace': '1', 'x-other': '2' }],
    ['Origin and Referer', { Origin: 'https://elsewhere.example', Referer: 'https://elsewhere.example/a' }],
    ['X-Forwarded-For', { 'X-Forwarded-For': '127.0.0.1' }],
    ['Date', { Date: 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['Content-Encoding', { 'Content-Encoding': 'identity' }],
    ['Range and If-Match', { Range: 'bytes=0-1', 'If-Match': '"x"' }],
    ['an empty value', { 'x-empty': '' }],
    ['tabs and commas', { 'x-list': 'a,\tb, "c"' }],
    ['Latin-1', { 'x-latin': 'caf\xe9 \xff' }],
    ['every character of a name', { "x-!#$%&'*+.^_`|~9": 'odd' }],
    ['a name that every object has', { constructor: 'a', tostring: 'b', hasownproperty: 'c' }],
    ['20 headers', Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-h${i}`, `${i}`]))],
    ['4 KB', { 'x-large': 'v'.repeat(4_000) }],
  ];

  it.each(MERGED)('carries %s of callbackHeaders', async (_, given) => {
    const others = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]);
    expectHeaders(await requestWith(given), others);
  });

  it.each([
    { 'user-agent': 'mine' },
    { 'User-Agent': 'mine' },
    { 'USER-AGENT': 'mine', Accept: 'text/plain' },
    { 'content-type': 'text/plain' },
    { 'Content-Type': 'text/plain', Authorization: 'x' },
    { 'CONTENT-TYPE': 'application/x-www-form-urlencoded', 'uSER-aGENT': '' },
  ])('keeps our Content-Type and User-Agent: %j', async (given) => {
    const others = Object.entries(given).filter(([name]) => /^(accept|authorization)$/i.test(name));
    expectHeaders(
      await requestWith(given),
      others.map(([name, value]) => [name.toLowerCase(), value]),
    );
  });

  it('carries them at every attempt', async () => {
    const callbackUrl = receiver.script('/again', answer(503), answer(204));
    const callbackHeaders = { Authorization: 'Bearer x' };
    await settled(service, await jobIn(service, 'dead', 'headers', { callbackUrl, callbackHeaders }));
    const [first, second, ...more] = receiver.requestsTo('/again');
    expect(more).toEqual([]);
    expect(second).toEqual({ ...first, at: expect.any(Number) });
    expectHeaders(first as Received, [['authorization', 'Bearer x']]);
  });
});

describe('the target', () => {
  /** What follows host and port in callbackUrl, and what of it the receiver is asked for. */
  const TARGETS: [rest: string, target: string][] = [
    ['', '/'],
    ['/', '/'],
    ['?a=1', '/?a=1'],
    ['/targets/a%2Fb%20c?q=%C3%BC&r=a+b&&=#no', '/targets/a%2Fb%20c?q=%C3%BC&r=a+b&&='],
    ['/targets/ü?ü', '/targets/%C3%BC?%C3%BC'],
    ['/targets//double//', '/targets//double//'],
    ['/targets/../targets/./up', '/targets/up'],
    ["/targets/@:!$&'()*+,;=~", "/targets/@:!$&'()*+,;=~"],
    [`/targets/${'l'.repeat(1_900)}`, `/targets/${'l'.repeat(1_900)}`],
  ];

  it.each(TARGETS)('of %s is %s, and the history shows the URL as it was given', async (rest, target) => {
    const path = target.replace(/\?.*/, '');
    receiver.script(path, answer(204));
    const before = receiver.requestsTo(path).length;
    const callbackUrl = `HTTP://127.0.0.1:${receiver.port}${rest}`;
    const job = await settled(service, await jobIn(service, 'completed', 'targets', { callbackUrl }));
    expect(
      receiver
        .requestsTo(path)
        .slice(before)
        .map(({ target }) => target),
    ).toEqual([target]);
    expect(attemptsOf(job)).toEqual(historyOf(callbackUrl, [sent(204)]));
  });
});
