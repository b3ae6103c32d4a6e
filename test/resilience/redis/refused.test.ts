import { connect, createServer } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type RunningProcess, runApp } from '../../support/process.js';
import { ask } from '../../support/redis/ask.js';
import { type RedisNode, startNode } from '../../support/redis/node.js';
import { until } from '../../support/until.js';

const ADMIN_API_KEY = 'admin-key-of-the-tests-of-yardmaster';

let redis: RedisNode | null = null;
const processes: RunningProcess[] = [];

afterEach(async () => {
  for (const each of processes.splice(0)) await each.stop();
  await redis?.stop();
});

/** Start a Redis with a password and a single database. */
async function start(): Promise<RedisNode> {
  return startNode({ lines: (port) => [`port ${port}`, 'requirepass sesame', 'databases 1'] });
}

function run(app: string, REDIS_URL: string): RunningProcess {
  const running = runApp(app, { REDIS_URL, ADMIN_API_KEY, PORT: '0' });
  processes.push(running);
  return running;
}

/** List the lines about waiting in the log of a process. */
const waitsOf = ({ output }: RunningProcess): { address: string; reason: string; seconds: number }[] =>
  [...output().matchAll(/^.*"msg":"waiting for redis".*$/gm)].map(([line]) => JSON.parse(line));

/** List the different reasons for waiting. */
const reasonsOf = (running: RunningProcess) => [...new Set(waitsOf(running).map(({ reason }) => reason))];

it('a process that waits for Redis logs the error of Redis', async () => {
  redis = await start();
  const refused = [run('api', `redis://127.0.0.1:${redis.port}`), run('gateway', `redis://:x@127.0.0.1:${redis.port}`)];
  await until(() => refused.every((each) => reasonsOf(each).length > 0));
  expect(refused.map(reasonsOf)).toEqual([
    ['ReplyError: NOAUTH Authentication required.'],
    ['ReplyError: WRONGPASS invalid username-password pair or user is disabled.'],
  ]);
});

it('a process that waits for Redis reports its address again, without the password', async () => {
  redis = await start();
  const refused = run('api', `redis://:not-sesame@127.0.0.1:${redis.port}`);
  await until(() => waitsOf(refused).length > 1);
  const [first, second] = waitsOf(refused);
  expect(second).toMatchObject({ address: `127.0.0.1:${redis.port}`, reason: first?.reason });
  expect(second?.seconds).toBeGreaterThan(first?.seconds as number);
  expect(refused.output()).not.toContain('not-sesame');
});

it('a process logs the message with which Redis in protected mode refuses its connection', async () => {
  redis = await startNode({ lines: (port) => [`port ${port}`, 'protected-mode yes'] });
  // For Redis, only 127.0.0.1 is this machine.
  const relay = createServer((client) => {
    const server = connect({ port: redis?.port as number, host: '127.0.0.1', localAddress: '127.0.0.2' });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const refused = run('api', `redis://127.0.0.1:${(relay.address() as { port: number }).port}`);
  await until(() => reasonsOf(refused).some((reason) => /DENIED Redis is running in protected mode/.test(reason)));
  await refused.stop();
  relay.close();
});

it.each(['api', 'scheduler'])('the %s never uses another database than the one in REDIS_URL', async (app) => {
  redis = await start();
  const refused = run(app, `redis://:sesame@127.0.0.1:${redis.port}/1`);
  await until(() => reasonsOf(refused).length > 0);
  // It tries again several times a second, and is refused each time.
  const attempts = async () =>
    Number(
      /^cmdstat_select:calls=(\d+)/m.exec(
        String(await ask({ port: redis?.port as number, password: 'sesame' }, 'INFO', 'commandstats')),
      )?.[1],
    );
  await until(async () => (await attempts()) > 9);
  expect(await refused.stop()).toBe(0);
  expect(reasonsOf(refused)).toEqual(['ReplyError: ERR DB index is out of range']);
  expect(await ask({ port: redis.port, password: 'sesame' }, 'KEYS', '*')).toEqual([]);
});
