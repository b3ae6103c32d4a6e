import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type RunningProcess, runApp } from '../support/process.js';
import { until } from '../support/until.js';

const REDIS_URL = process.env.TEST_REDIS_URL as string;

let api: RunningProcess | null = null;
afterEach(() => api?.stop());

/** Send a request over a connection of its own. @returns the status line, or why there is none */
function ask(port: number): { isSent: Promise<unknown>; answer: Promise<string> } {
  const socket = net.connect(port, '127.0.0.1');
  const isSent = new Promise((resolve) => {
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n', resolve);
  });
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString().split('\r\n', 1)[0] as string));
    socket.once('error', (error) => resolve(error.message));
    socket.once('end', () => resolve('closed without an answer'));
  }).finally(() => socket.destroy());
  return { isSent, answer };
}

async function start(env: Record<string, string> = {}): Promise<{ running: RunningProcess; port: number }> {
  const KEY_PREFIX = `t-${randomUUID().slice(0, 8)}`;
  const running = runApp('api', { REDIS_URL, KEY_PREFIX, ADMIN_API_KEY: 'admin-key-of-the-tests', PORT: '0', ...env });
  api = running;
  await until(() => running.output().includes('"url"'));
  return { running, port: Number(/"url":"http:\/\/127.0.0.1:(\d+)"/.exec(running.output())?.[1]) };
}

it('answers every call whose connection the system had accepted when it was told to stop', async () => {
  const { running, port } = await start();
  running.child.kill('SIGSTOP'); // As when the event loop is busy: the system accepts for it.
  const calls = Array.from({ length: 40 }, () => ask(port));
  await Promise.all(calls.map(({ isSent }) => isSent));
  running.child.kill('SIGTERM');
  running.child.kill('SIGCONT');

  expect(await Promise.all(calls.map(({ answer }) => answer))).toEqual(Array(40).fill('HTTP/1.1 200 OK'));
  expect(await running.ended()).toBe(0);
});

it('cuts off a call that never ends, and exits 0 all the same', async () => {
  const { running, port } = await start({ SHUTDOWN_SECONDS: '3' });
  const socket = net.connect(port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  // A header now and then, so that it is never quiet.
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n');
  const drip = setInterval(() => socket.write('a: b\r\n'), 100);
  await new Promise((resolve) => socket.once('connect', resolve));
  running.child.kill('SIGTERM');
  await closed;
  clearInterval(drip);
  expect(await running.ended()).toBe(0);
});
