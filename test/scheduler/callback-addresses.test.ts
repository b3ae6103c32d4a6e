import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { createScheduler, SCHEDULER_VARIABLES } from '@yardmaster/scheduler';
import { answer } from '../support/behaviours.js';
import { attemptsTo, failed, historyOf, ofEach, REFUSED, sent } from '../support/callbacks.js';
import { startTraps, type Traps } from '../support/loopback.js';
import { startService, type TestService } from '../support/service.js';
import { ELSEWHERE, LOOPBACK, NOT_URLS } from './spellings.js';

let traps: Traps;
let guarded: TestService;
let open: TestService;
beforeAll(async () => {
  traps = await startTraps();
  guarded = await startService({ CALLBACK_ALLOW_PRIVATE: 'false', CALLBACK_RETRY_DELAYS: '0.05' });
  open = await startService({ CALLBACK_ALLOW_PRIVATE: 'true', CALLBACK_RETRY_DELAYS: '0.05' });
});
afterAll(async () => {
  await guarded.stop();
  await open.stop();
  await traps.close();
});

/** Names that this machine's hosts file gives to a loopback address; `localhost` at least. */
async function namesOfLoopback(): Promise<string[]> {
  const file = await readFile('/etc/hosts', 'utf8').catch(() => ''); // Elsewhere on other systems.
  const rows = file.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
  const names = rows.flatMap(([address = '', ...rest]) => (/^127\.|^::1$/.test(address) ? rest : []));
  return [...new Set(['localhost', ...names])];
}

describe('where private addresses are not allowed', () => {
  const SPELLINGS = [...LOOPBACK.map(({ host }) => host), ...ELSEWHERE];

  it.each(SPELLINGS)('no connection is made to %s', async (host) => {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${traps.port}/`;
      expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    }
    expect(traps.connections()).toBe(0);
  });

  it('no connection is made to the port that a scheme implies', async () => {
    for (const url of ['http://127.0.0.1', 'https://[::1]', 'http://localhost/']) {
      expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    }
  });

  it.each(NOT_URLS)('no job is created with %s', async (text) => {
    const callbackUrl = text.replaceAll('PORT', `${traps.port}`);
    const { status, body } = await guarded.call('POST', '/spaces/callbacks/jobs', { body: { name: 'x', callbackUrl } });
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error: 'callbackUrl must be an http or https URL without user name and password',
        code: 'INVALID_REQUEST',
      },
    });
  });

  // Whether it is a name of the hosts file is the system's affair.
  it.each(['localhost.', 'sub.localhost', 'ip6-localhost'])(
    'no connection is made to %s, known or not',
    async (host) => {
      const url = `http://${host}:${traps.port}/`;
      const unknown = ofEach(2, (attempt, willRetry) => failed('host name does not resolve', attempt, willRetry));
      expect([historyOf(url, REFUSED), historyOf(url, unknown)]).toContainEqual(await attemptsTo(guarded, url));
      expect(traps.connections()).toBe(0);
    },
  );

  it('names that the machine itself gives to them lead nowhere', async () => {
    for (const name of await namesOfLoopback()) {
      const url = `http://${name}:${traps.port}/`;
      expect(await attemptsTo(guarded, url)).toEqual(historyOf(url, REFUSED));
    }
    expect(traps.connections()).toBe(0);
  });
});

describe('where private addresses are allowed', () => {
  it.each(LOOPBACK.filter(({ reaches }) => reaches !== null))('$host reaches $reaches', async ({ host, reaches }) => {
    if (reaches === '::1' && !traps.v6) return; // A machine without IPv6.
    const path = `/${encodeURIComponent(host)}`;
    for (const trap of [traps.v4, traps.v6]) trap?.script(path, answer(204));
    const url = `http://${host}:${traps.port}${path}`;
    expect(await attemptsTo(open, url)).toEqual(historyOf(url, [sent(204)]));
    const v4 = traps.v4.requestsTo(path).length;
    const v6 = traps.v6?.requestsTo(path).length ?? 0;
    if (reaches === 'either') expect(v4 + v6).toBe(1);
    else expect({ v4, v6 }).toEqual(reaches === '::1' ? { v4: 0, v6: 1 } : { v4: 1, v6: 0 });
  });
});

describe('where nothing is said about private addresses', () => {
  interface Row {
    where: string;
    /** What decides; the API is a whole service or, beside a scheduler, only itself. */
    start: () => Promise<{ service: TestService; stop: () => Promise<void> }>;
    reaches: boolean;
  }
  const wholeOn = (HOST: string) => async () => {
    const service = await startService({ HOST, CALLBACK_RETRY_DELAYS: 'none' });
    return { service, stop: () => service.stop() };
  };
  const apart = async () => {
    const service = await startService({}, { app: createApi });
    const env = { PORT: '0', KEY_PREFIX: service.prefix, CALLBACK_RETRY_DELAYS: 'none', LOG_LEVEL: 'silent' };
    const config = { ...readConfig(env, SCHEDULER_VARIABLES), REDIS_URL: process.env.TEST_REDIS_URL as string };
    const scheduler = createScheduler(config, createLogger('test', 'silent'));
    await scheduler.start();
    const stop = async () => {
      await scheduler.stop();
      await service.stop();
    };
    return { service, stop };
  };
  const ROWS: Row[] = [
    { where: 'a service on 127.0.0.1', start: wholeOn('127.0.0.1'), reaches: true },
    { where: 'a service on localhost', start: wholeOn('localhost'), reaches: true },
    { where: 'a service on all addresses', start: wholeOn('0.0.0.0'), reaches: false },
    { where: 'a scheduler of its own, on 127.0.0.1', start: apart, reaches: false },
  ];

  it.each(ROWS)('$where reaches them: $reaches', async ({ where, start, reaches }) => {
    const path = `/${encodeURIComponent(where)}`;
    const url = `${traps.v4.script(path, answer(204))}`;
    const { service, stop } = await start();
    const attempts = await attemptsTo(service, url);
    await stop();
    expect(attempts).toEqual(historyOf(url, reaches ? [sent(204)] : REFUSED));
    expect(traps.v4.requestsTo(path)).toHaveLength(reaches ? 1 : 0);
  });
});
