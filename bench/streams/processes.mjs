// The processes that only the measurement of streams has, and what the system tells of them.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startApp } from '../processes.mjs';

/** A gateway of its own for each measurement: one that has served before has memory to spare. */
export async function startGateway(redisUrl) {
  const { url, ...gateway } = await startApp('gateway', { REDIS_URL: redisUrl, STREAMS_PER_KEY: '1000000' });
  return { ...gateway, port: Number(new URL(url).port) };
}

/** Clients in another process, by the commands of watchers.mjs. */
export function startWatchers() {
  const child = fork(fileURLToPath(new URL('watchers.mjs', import.meta.url)));
  const waiting = new Map();
  let lastId = 0;
  child.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(value);
  });
  const watch = (command, options) =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject });
      child.send({ id: lastId, command, options });
    });
  return { watch, stop: () => child.kill() };
}

const residentBytes = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

/** Resident memory once it does not fall any more: garbage of the handshakes is gone. */
export async function settledBytes(pid) {
  let lowest = residentBytes(pid);
  for (let quiet = 0; quiet < 10; quiet++) {
    await delay(300);
    if (residentBytes(pid) < lowest * 0.995) quiet = 0;
    lowest = Math.min(lowest, residentBytes(pid));
  }
  return lowest;
}
