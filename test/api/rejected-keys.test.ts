import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Logger } from '@yardmaster/runtime';
import { clientAddressBy } from '@yardmaster/server';
import { Registry } from 'prom-client';
import { createRejectedKeyReport } from '../../packages/server/src/authorize.js';
import { destroySockets, sendHandshake } from '../gateway/handshake.js';
import { movedBy } from '../metrics/scrape.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const METRIC = 'yardmaster_rejected_keys_total';

/** A service that trusts the X-Forwarded-For of the test itself. */
const service = withService({ TRUSTED_PROXIES: 'loopback' });
afterEach(destroySockets);

/** Make a call and open a stream with this text as the key, from an address. @returns both statuses */
async function present(key: string | undefined, from = '203.0.113.9'): Promise<(number | undefined)[]> {
  const headers = { 'x-forwarded-for': from };
  const path = `/api/v1/realtime/spaces/a${key === undefined ? '' : `?token=${key}`}`;
  const called = await service.call('GET', '/spaces/a/jobs', { key, headers });
  return [called.status, (await sendHandshake(service.url, path, { headers })).status];
}

const newKey = (fields = {}) => service.key(['jobs:read'], fields);

const WRONG: [what: string, make: () => Promise<string>][] = [
  ['no text of ours', async () => 'garbage'],
  ['unknown', async () => `ym_${'a'.repeat(16)}_${'0'.repeat(64)}`],
  ['an existing one with another secret', async () => `ym_${(await newKey()).id}_${'0'.repeat(64)}`],
  [
    'expired',
    async () => {
      const expiresAt = new Date(Date.now() + 5_000).toISOString();
      const { key } = await newKey({ expiresAt });
      await until(
        async () =>
          (await service.call('GET', '/spaces/a/jobs', { key, headers: { 'x-forwarded-for': '203.0.113.9' } }))
            .status === 401,
      );
      return key;
    },
  ],
  [
    'revoked',
    async () => {
      const { id, key } = await newKey();
      await service.call('DELETE', `/keys/${id}`);
      return key;
    },
  ],
];

it.each(WRONG)('counts a wrong API key of a call and of a stream: %s', async (_, make) => {
  const key = await make();
  const moved = await movedBy(service, METRIC, async () => expect(await present(key)).toEqual([401, 401]));
  expect(moved).toEqual({ [METRIC]: 2 });
});

it('counts neither a missing API key as wrong nor a valid one that lacks a scope', async () => {
  const { key } = await service.key(['jobs:ack']);
  const moved = await movedBy(service, METRIC, async () => {
    expect(await present(undefined)).toEqual([401, 401]);
    expect(await present('')).toEqual([401, 401]);
    expect(await present(key)).toEqual([403, 403]);
  });
  expect(moved).toEqual({});
});

it('logs one warning about wrong API keys for each client address, without the key', async () => {
  const wrong = `ym_${(await newKey()).id}_${'7'.repeat(64)}`;
  for (const from of ['203.0.113.1', '203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2']) {
    await present(wrong, from);
  }
  const output = service.process?.output() ?? '';
  const warnings = output.split('\n').filter((line) => line.includes('API key rejected'));
  const ofThese = warnings.map((line) => JSON.parse(line)).filter(({ address }) => address !== '203.0.113.9');
  expect(ofThese).toEqual(
    ['203.0.113.1', '203.0.113.2', '2001:db8:0:0::/64'].map((address) => ({
      ...{ level: 'warn', time: expect.any(String), app: expect.any(String) },
      ...{ address, msg: 'API key rejected' },
    })),
  );
  expect(output).not.toContain(wrong);
  expect(output).not.toContain('7'.repeat(64));
});

describe('the warnings about wrong API keys', () => {
  const warn = jest.fn();
  let report: (req: IncomingMessage) => void;
  beforeEach(() => {
    jest.useFakeTimers();
    warn.mockClear();
    const log = { warn } as unknown as Logger;
    report = createRejectedKeyReport({ registry: new Registry(), addressOf: clientAddressBy(['loopback']), log });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const reportFrom = (address: string) =>
    report({ headers: { 'x-forwarded-for': address }, socket: { remoteAddress: '127.0.0.1' } } as never);

  it('warns about wrong API keys of the same address again after a minute', () => {
    for (const passMs of [0, 59_999, 1, 1]) {
      jest.advanceTimersByTime(passMs);
      reportFrom('203.0.113.1');
    }
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it('warns about wrong API keys of at most 1,000 addresses a minute, and logs no text longer than an address', () => {
    for (let n = 0; n < 1_500; n++) reportFrom(`10.0.${n >> 8}.${n & 255}`);
    expect(warn).toHaveBeenCalledTimes(1_000);
    jest.advanceTimersByTime(60_000);
    reportFrom('x'.repeat(10_000));
    expect(warn).toHaveBeenLastCalledWith({ address: 'x'.repeat(64) }, 'API key rejected');
  });
});
