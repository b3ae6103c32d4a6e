import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Place, Places } from '../../apps/api/dist/limits/places.js';
import { RawClient } from '../support/raw-client.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { until } from '../support/until.js';
import { withApi } from '../waiting/api.js';

const service = withService();
const api = withApi(service, { env: { MAX_IN_FLIGHT: '10' } });

const open: RawClient[] = [];
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
  jest.restoreAllMocks();
});

/** Send the beginning of a create, whose body is never complete unless the test sends the rest. */
function drip(spaceId: string): RawClient {
  const raw = new RawClient(api.url);
  open.push(raw);
  const head = `Host: localhost\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json`;
  raw.socket.write(`POST /api/v1/spaces/${spaceId}/jobs HTTP/1.1\r\n${head}\r\ncontent-length: 16\r\n\r\n{`);
  return raw;
}

const create = (spaceId: string) => api.call('POST', `/spaces/${spaceId}/jobs`, { body: { name: 'work' } });

it('does not count requests until their body has arrived, and lets one space have half as many as there are places', async () => {
  const bodies = Array.from({ length: 5 }, () => drip('dripping'));
  await until(async () => {
    const one = drip('dripping');
    const [response] = await one.receive(1);
    return (response as { status: number }).status === 503;
  });
  const others = await Promise.all(Array.from({ length: 10 }, () => create('quiet')));
  expect(others.map(({ status }) => status)).toEqual(Array(10).fill(201));
  for (const { socket } of bodies) socket.write('"name": "work"}');
  for (const raw of bodies) expect(await raw.receive(1)).toMatchObject([{ status: 201 }]);
});

/** Hold the scripts of a space at Redis until the returned function is called. */
function hold(spaceId: string): () => void {
  const { redis } = api.context.store;
  const original = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  jest.spyOn(redis, 'evalsha').mockImplementation((async (...args: unknown[]) => {
    if (JSON.stringify(args).includes(spaceId)) await released;
    return original(...args);
  }) as never);
  return release;
}

it('refuses further requests of any key, but serves probes and heartbeats, until there are free places again', async () => {
  const { id } = (await service.call('POST', '/spaces/calm/jobs', { body: { name: 'running' } })).body;
  await service.call('POST', `/jobs/${id}/claim`);
  await service.call('POST', `/jobs/${id}/ack`);
  const release = hold('crowded');
  const inFlight = Array.from({ length: 9 }, () => create('crowded')); // The tenth is reserved for urgent calls.
  let refused = await api.call('GET', '/keys', { key: 'wrong' });
  await until(async () => {
    refused = await api.call('GET', '/keys', { key: 'wrong' });
    return refused.status === 503;
  });
  expect(refused.body).toEqual({
    error: 'Server is busy; nothing was done, retry the request',
    code: 'OVERLOADED',
  });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(5);
  expect((await fetch(`${api.url}/livez`)).status).toBe(200);
  expect((await api.call('POST', `/jobs/${id}/keepalive`)).status).toBe(200);
  release();
  for (const { status } of await Promise.all(inFlight)) expect(status).toBe(201);
  expect((await api.call('GET', '/spaces/crowded/jobs')).body).toHaveLength(9);
});

describe('places', () => {
  const clock = { now: 0 };
  const placesOf = (options = {}) => {
    jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
    const places = new Places({ max: 10, reserved: 0.1, ...options });
    const take = (tenant: string, isUrgent = false) => {
      const place = new Place();
      try {
        place.moveTo(places, tenant, isUrgent);
        return place;
      } catch {
        return null;
      }
    };
    return {
      places,
      take,
      takeAll: (tenant: string, isUrgent = false) =>
        Array.from({ length: 12 }, () => take(tenant, isUrgent)).filter(Boolean),
    };
  };

  it('a lone tenant gets all places except those for urgent requests', () => {
    const { take, takeAll } = placesOf();
    expect(takeAll('a')).toHaveLength(9);
    expect([take('a', true), take('a', true)]).toEqual([expect.any(Place), null]);
  });

  it('after another tenant is refused, a tenant gets at most half, until no other tenant has called for 10 s', () => {
    const { take, takeAll } = placesOf();
    const all = takeAll('a');
    expect(take('b')).toBeNull();
    for (const place of all.splice(0, 5)) place?.leave();
    expect([take('a'), take('b'), take('b')]).toEqual([expect.any(Place), expect.any(Place), expect.any(Place)]);
    expect([take('a'), take('a', true)]).toEqual([null, null]);
    clock.now += 9_000;
    expect(take('b')).not.toBeNull();
    clock.now += 9_000;
    expect(take('a')).toBeNull();
    clock.now += 1_001;
    expect(take('a')).not.toBeNull();
  });

  it("a tenth of a tenant's half is reserved for its urgent calls", () => {
    const { takeAll } = placesOf({ max: 40, isHalfAlways: true });
    expect([...takeAll('a'), ...takeAll('a')]).toHaveLength(18);
    expect(takeAll('a', true)).toHaveLength(2);
    expect(takeAll('b')).toHaveLength(12);
  });

  it('a tenant never gets more than half of the places for arriving bodies', () => {
    const { take, takeAll } = placesOf({ isHalfAlways: true });
    expect(takeAll('a')).toHaveLength(5);
    expect(take('b')).not.toBeNull();
  });

  it('a call that gave up its place while waiting can return even if no place is free', () => {
    const { places, take, takeAll } = placesOf();
    const [first] = takeAll('a') as Place[];
    first?.leave();
    first?.leave();
    expect(take('a')).not.toBeNull();
    first?.takeAgain();
    expect(() => places.check('a', false)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
    first?.leave();
    expect(take('a')).toBeNull();
  });
});
