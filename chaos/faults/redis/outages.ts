import { setTimeout as delay } from 'node:timers/promises';
import { connectTo } from '../../../test/support/connect.js';
import { keysOf } from '../../../test/support/fsck.js';
import type { Installation } from '../../installation/installation.js';
import type { Fault } from '../../runs/fault.js';
import { lateTimeouts, timeoutsIn } from '../../runs/measures.js';
import { repeat } from '../../runs/waiting.js';

const SOON_MS = 500; // Redis flushes its file once a second, so after a quick flush, some time remains until the next.
const FAST_DISK_MS = 3_000; // If no flush is seen for this time, the disk is fast enough at any moment.

/**
 * Wait until the operating system has all writes, and Redis will not flush soon. During a flush of the append-only file, Redis
 * replies before it writes, so a kill loses more (docs/redis.md, "Data loss").
 */
async function written({ connection }: Installation): Promise<void> {
  const began = performance.now();
  let flushingSince: number | null = null;
  for (;;) {
    const info = await connection.info('persistence');
    const now = performance.now();
    if (!info.includes('aof_pending_bio_fsync:0')) flushingSince ??= now;
    else {
      const wasQuick = flushingSince !== null && now - flushingSince < SOON_MS;
      if (info.includes('aof_buffer_length:0') && (wasQuick || now - began > FAST_DISK_MS)) return;
      flushingSince = null;
    }
  }
}

const killed = (seconds: number): Fault => ({
  name: `F4-${seconds}s`,
  title: `Redis is killed, and restarted after ${seconds} s`,
  promises: ['P1', 'P4', 'P12'],
  stops: ['redis'],
  lastsMs: seconds * 1_000,
  async inject({ installation }) {
    await written(installation);
    await installation.redis.kill();
    return () => installation.redis.resume();
  },
});

/** Pause Redis. When it resumes, it runs commands whose callers got UNAVAILABLE long before. */
const paused = (seconds: number): Fault => ({
  name: `F10-${seconds}s`,
  title: `Redis is paused for ${seconds} s`,
  promises: ['P12', 'P3'],
  stops: ['redis'],
  lastsMs: seconds * 1_000,
  async inject({ installation }) {
    process.kill(installation.redis.pid, 'SIGSTOP');
    return async () => void process.kill(installation.redis.pid, 'SIGCONT');
  },
});

/** Delay Redis. With a round trip of 0.4 s, every call is served. With 1.6 s, none is, because a command may take 1.5 s. */
const slow = (delayMs: 200 | 800): Fault => ({
  name: `F13-${delayMs}ms`,
  title: `messages to and from Redis take ${delayMs} ms`,
  promises: ['P12', 'P4'],
  stops: [delayMs === 200 ? 'scheduler' : 'redis'],
  lastsMs: 6_000,
  async inject({ installation: { apps } }) {
    for (const { proxy } of apps) proxy.set({ delayMs });
    return async () => {
      for (const { proxy } of apps) proxy.set('pass');
    };
  },
  expect(run) {
    const { from, until } = run.outage;
    const timeouts = timeoutsIn(run).filter(({ at }) => at >= from && at <= until);
    return delayMs === 200 ? lateTimeouts(run, { timeouts }) : [];
  },
});

const BUSY_AFTER_MS = 200; // Redis replies -BUSY to others once a script has run for this time.
const SPINS = 3;
const SPIN_SECONDS = 3;
const PAUSE_MS = 700;
/** A script that counts loops, because the clock of Redis does not advance within a script. */
const SPIN = 'local left = tonumber(ARGV[1]) while left > 0 do left = left - 1 end return 1';
const TRIED = 1_000_000; // Few enough loops that Redis does not reply -BUSY.

/** Keep Redis busy with the number of loops that take SPIN_SECONDS on this machine. */
async function spin({ redis }: Installation): Promise<void> {
  const connection = connectTo(`redis://127.0.0.1:${redis.port}`);
  try {
    const began = performance.now();
    await connection.eval(SPIN, 0, TRIED);
    const loops = Math.ceil((TRIED * SPIN_SECONDS * 1_000) / (performance.now() - began));
    for (let i = 1; i <= SPINS; i++) {
      await connection.eval(SPIN, 0, loops);
      await delay(PAUSE_MS);
    }
  } finally {
    connection.disconnect();
  }
}

const FLUSH_EVERY_MS = 100;
/** Pauses between deletions. One of them ends just before or after the repair of BullMQ's schedule. */
const PAUSES_MS = [200, 1_000, 3_000, 3_200, 5_000];

export const faults: Fault[] = [
  ...[1.5, 8, 20].map(killed),
  ...[5, 15].map(paused),
  slow(200),
  slow(800),
  {
    name: 'F14',
    title: `the script of another client keeps Redis busy for ${SPIN_SECONDS} s, ${SPINS} times`,
    promises: ['P4', 'P12', 'P13'],
    stops: ['redis'],
    lastsMs: 0,
    installation: { redisLines: [`lua-time-limit ${BUSY_AFTER_MS}`] },
    async inject({ installation }) {
      await spin(installation);
      return undefined;
    },
  },
  {
    name: 'F18',
    title: `all scripts are flushed every ${FLUSH_EVERY_MS} ms`,
    promises: ['P3', 'P13'],
    stops: [],
    lastsMs: 8_000,
    inject: async ({ installation }) => repeat(FLUSH_EVERY_MS, () => installation.connection.script('FLUSH')),
  },
  {
    name: 'F29',
    title: 'all keys of BullMQ are deleted, five times',
    promises: ['P4', 'P6'],
    stops: ['scheduler'], // BullMQ's work is lost, so timeouts are a few seconds late.
    lastsMs: 5_000,
    async inject({ installation: { connection, store } }) {
      for (const pauseMs of PAUSES_MS) {
        const keys = await keysOf(connection, store.keys.bull);
        if (keys.length > 0) await connection.del(keys);
        await delay(pauseMs);
      }
      return undefined;
    },
    expect: lateTimeouts,
  },
];
