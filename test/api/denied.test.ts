import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type AuditEntry, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { clientAddressBy } from '@yardmaster/server';
import { ANY_SPACE, listActs, type Store } from '@yardmaster/store';
import { Audit } from '../../packages/server/src/audit.js';
import { destroySockets, sendHandshake } from '../gateway/handshake.js';
import { storeUnderTest, withConnection } from '../store/store-under-test.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

/** A service that trusts the X-Forwarded-For of the test itself. */
const service = withService({ TRUSTED_PROXIES: 'loopback' });
afterEach(destroySockets);

/** Return the entries about refused access from an address, newest first, once there are some. */
async function deniedTo(address: string, count: number): Promise<AuditEntry[]> {
  let found: AuditEntry[] = [];
  await until(async () => {
    const { entries } = (await service.call('GET', '/audit?limit=100')).body as { entries: AuditEntry[] };
    found = entries.filter((entry) => entry.action === 'access.denied' && entry.address === address);
    return found.length >= count;
  });
  return found;
}

const shownOf = (entries: AuditEntry[]) =>
  entries.map(({ keyId, spaceId, details: { status, count } }) => ({ keyId, spaceId, status, count }));

/** How a client may be refused, and who the audit says it is. */
type Refusal = [
  what: string,
  status: number,
  key: () => Promise<{ text?: string; id: string; spaceId: string | null }>,
];
const REFUSALS: Refusal[] = [
  ['without an API key', 401, async () => ({ id: '', spaceId: null })],
  ['with a text that is no API key', 401, async () => ({ text: 'garbage', id: '', spaceId: null })],
  [
    'with an API key that lacks a scope',
    403,
    async () => {
      const { id, key } = await service.key(['jobs:ack'], { spaceId: 'a' });
      return { text: key, id, spaceId: 'a' };
    },
  ],
  [
    'with an API key of another space',
    403,
    async () => {
      const { id, key } = await service.key(['jobs:read'], { spaceId: 'other' });
      return { text: key, id, spaceId: 'other' };
    },
  ],
  [
    'with a wrong secret of an API key that is in use',
    401,
    async () => {
      const { id, key } = await service.key(['jobs:read'], { spaceId: 'a' });
      await service.call('GET', '/spaces/a/jobs', { key });
      return { text: `ym_${id}_${'7'.repeat(64)}`, id, spaceId: 'a' };
    },
  ],
];

let addresses = 0;
describe.each(REFUSALS)('the audit of a client %s', (what, status, keyOf) => {
  it.each<[string, (text: string | undefined, headers: Record<string, string>) => Promise<number | undefined>]>([
    ['a call', async (key, headers) => (await service.call('GET', '/spaces/a/jobs', { key, headers })).status],
    [
      'a WebSocket',
      async (key, headers) => {
        const auth = key === undefined ? {} : { 'x-api-key': key };
        return (await sendHandshake(service.url, '/api/v1/realtime/spaces/a', { headers: { ...headers, ...auth } }))
          .status;
      },
    ],
    [
      'an event stream',
      async (key, headers) => {
        const all = { ...headers, accept: 'text/event-stream' };
        return (await service.call('GET', '/realtime/spaces/a', { key, headers: all })).status;
      },
    ],
  ])(`records that %s ${what} was refused, once per minute`, async (_, make) => {
    const { text, id, spaceId } = await keyOf();
    const address = `198.51.100.${++addresses}`;
    for (let n = 0; n < 3; n++) {
      expect(await make(text, { 'x-forwarded-for': address, 'x-request-id': `${address}-${n}` })).toBe(status);
    }
    const [entry, ...more] = await deniedTo(address, 1);
    expect(more).toEqual([]);
    expect(shownOf([entry as AuditEntry])).toEqual([{ keyId: id, spaceId, status, count: 1 }]);
    expect(entry?.requestId).toBe(`${address}-0`);
    if (text !== undefined) expect(service.process?.output()).not.toContain(text.split('_').at(-1));
  });
});

it('records which API key made a stream token for other streams', async () => {
  const { id, key } = await service.key(['jobs:read'], { spaceId: 'a' });
  const body = { scope: 'jobs:read', tag: 'customer' };
  const { token } = (await service.call('POST', '/stream-tokens', { key, body })).body;
  const address = `198.51.100.${++addresses}`;
  const headers = { 'x-forwarded-for': address };
  const path = `/api/v1/realtime/spaces/a?counts=1&token=${token}`;
  expect((await sendHandshake(service.url, path, { headers })).status).toBe(403);
  expect(shownOf(await deniedTo(address, 1))).toEqual([{ keyId: id, spaceId: 'a', status: 403, count: 1 }]);
});

it('logs one warning about refused access for each client address, without the key', async () => {
  const wrong = `ym_${'b'.repeat(16)}_${'7'.repeat(64)}`;
  for (const from of ['203.0.113.1', '203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2'])
    await service.call('GET', '/spaces/a/jobs', { key: wrong, headers: { 'x-forwarded-for': from } });
  const output = service.process?.output() ?? '';
  const warnings = output.split('\n').filter((line) => line.includes('access denied'));
  const ofThese = warnings.map((line) => JSON.parse(line)).filter(({ address }) => !address.startsWith('198.51.100.'));
  expect(ofThese).toEqual(
    ['203.0.113.1', '203.0.113.2', '2001:db8:0:0::/64'].map((address) => ({
      ...{ level: 'warn', time: expect.any(String), app: expect.any(String), requestId: expect.any(String) },
      ...{ keyId: '', keyName: '', action: 'access.denied', spaceId: null, jobId: null },
      ...{ address, details: { status: 401, count: 1 }, msg: 'access denied' },
    })),
  );
  expect(output).not.toContain('7'.repeat(64));
});

describe('acts that clients repeat', () => {
  const redis = withConnection();
  let store: Store;
  let audit: Audit;
  beforeEach(async () => {
    ({ store } = storeUnderTest(redis));
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout', 'Date'] });
    const log = { warn: jest.fn(), info: jest.fn() } as unknown as Logger;
    const authenticator = { knownBy: () => undefined };
    audit = new Audit({ store, log, authenticator, addressOf: clientAddressBy(['loopback']) });
    await audit.start();
  });
  afterEach(async () => {
    jest.useRealTimers();
    await audit.stop(1_000);
  });

  const from = (address: string) => ({
    req: { headers: { 'x-forwarded-for': address }, socket: { remoteAddress: '127.0.0.1' } } as never,
    requestId: 'r',
  });
  const deny = (address: string, code: 'UNAUTHENTICATED' | 'FORBIDDEN' = 'UNAUTHENTICATED') =>
    audit.denied(new YardmasterError(code), {}, from(address));
  const record = (action: string, fields = {}, address = '203.0.113.1') =>
    audit.record(
      { keyId: 'k', keyName: 'n', action, spaceId: null, jobId: null, details: {}, ...fields },
      from(address),
    );

  async function entries(count: number): Promise<AuditEntry[]> {
    let found: AuditEntry[] = [];
    await until(async () => {
      found = [];
      for (let cursor: string | undefined; ; ) {
        const page = await listActs(store, ANY_SPACE, { limit: 100, cursor });
        found.push(...page.entries);
        if (page.nextCursor === null) break;
        cursor = page.nextCursor;
      }
      return found.length >= count;
    });
    return found.reverse();
  }
  const counts = (all: AuditEntry[]) => all.map(({ address, details: { status, count } }) => [address, status, count]);

  it('counts refused access by address and status, and stores the count after a minute', async () => {
    for (let n = 0; n < 5; n++) deny('203.0.113.1');
    deny('203.0.113.2');
    deny('203.0.113.1', 'FORBIDDEN');
    audit.denied(new YardmasterError('JOB_NOT_FOUND'), {}, from('203.0.113.3'));
    const first = [
      ['203.0.113.1', 401, 1],
      ['203.0.113.2', 401, 1],
      ['203.0.113.1', 403, 1],
    ];
    expect(counts(await entries(3))).toEqual(first);
    await jest.advanceTimersByTimeAsync(55_000);
    expect(counts(await entries(3))).toEqual(first);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(counts(await entries(4))).toEqual([...first, ['203.0.113.1', 401, 4]]);
    // It still counts by that address, but no longer by those that were refused once.
    deny('203.0.113.1');
    deny('203.0.113.2');
    expect(counts(await entries(5)).slice(4)).toEqual([['203.0.113.2', 401, 1]]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(counts(await entries(6)).slice(5)).toEqual([['203.0.113.1', 401, 1]]);
  });

  it.each(['key.list', 'secret.read', 'token.create', 'job.replace'])(
    'records %s immediately, and then once per hour for a key, a space and an address',
    async (action) => {
      await record(action);
      const others: [object, string?][] = [[{}, '203.0.113.2'], [{ keyId: 'other' }], [{ spaceId: 'a' }]];
      for (const [fields, address] of others) await record(action, fields, address);
      expect(await entries(4)).toHaveLength(4);
      for (let n = 0; n < 100; n++) await record(action, { details: { n } });
      await jest.advanceTimersByTimeAsync(3_595_000);
      expect(await entries(4)).toHaveLength(4);
      await jest.advanceTimersByTimeAsync(5_000);
      const [last, ...more] = (await entries(5)).slice(4);
      expect(more).toEqual([]);
      expect(last).toMatchObject({ action, keyId: 'k', address: '203.0.113.1', details: { n: 99, count: 100 } });
    },
  );

  it('stores counts of refused access when the process stops', async () => {
    for (let n = 0; n < 3; n++) deny('203.0.113.1');
    await audit.stop(1_000);
    expect(counts(await entries(2))).toEqual([
      ['203.0.113.1', 401, 1],
      ['203.0.113.1', 401, 2],
    ]);
  });

  it('counts refused access from more than 1,000 addresses together, and keeps no text longer than an address', async () => {
    deny('x'.repeat(10_000));
    for (let n = 0; n < 1_500; n++) deny(`10.0.${n >> 8}.${n & 255}`);
    expect((await entries(1_001))[0]?.address).toBe('x'.repeat(64));
    await jest.advanceTimersByTimeAsync(60_000);
    const all = counts(await entries(1_002));
    expect(all.slice(1_000)).toEqual([
      ['*', 401, 1],
      ['*', 401, 500],
    ]);
  });

  it('keeps reads of secrets in the audit, however much refused access or how many other reads follow', async () => {
    for (let n = 0; n < 1_100; n++) deny(`10.0.${n >> 8}.${n & 255}`);
    for (let n = 0; n < 1_100; n++) void record('secret.read', {}, `10.0.${n >> 8}.${n & 255}`);
    await record('secret.read', { keyId: 'last' });
    await record('secret.read', { keyId: 'last' });
    const reads = (await entries(2_103)).filter(({ action }) => action === 'secret.read');
    expect(reads).toHaveLength(1_102);
    expect(reads.slice(-2).map(({ keyId, details }) => [keyId, details])).toEqual(
      Array.from({ length: 2 }, () => ['last', { count: 1 }]),
    );
  });
});
