import { setTimeout as delay } from 'node:timers/promises';
import { connectTo } from '../../test/support/connect.js';
import { keysOf } from '../../test/support/fsck.js';
import type { Installation } from '../installation/installation.js';
import type { Fault } from '../runs/fault.js';
import { lateTimeOuts, timeOutsIn } from '../runs/measures.js';
import { repeat } from '../runs/waiting.js';

/**
 * Wait until what was answered is in the hands of the operating system. While it flushes the append-only file, Redis answers
 * before it writes, and a kill then takes more (docs/operate.md, "What a failure may lose").
 */
async function written({ connection }: Installation): Promise<void> {
  for (;;) {
    const info = await connection.info('persistence');
    if (info.includes('aof_pending_bio_fsync:0') && info.includes('aof_buffer_length:0')) return;
  }
}

const killed = (seconds: number): Fault => ({
  name: `F4-${seconds}s`,
  title: `Redis is killed, and is back after ${seconds} s`,
  promises: ['P1', 'P4', 'P12'],
  stops: ['redis'],
  lastsMs: seconds * 1_000,
  async inject({ installation }) {
    await written(installation);
    await installation.redis.kill();
    return () => installation.redis.resume();
  },
});

/** A Redis that was paused runs what it got before, when its callers have long been told that nobody knows. */
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

/** At a round trip of 0.4 s every call is served; at one of 1.6 s none is, since a command has 1.5 s. */
const slow = (delayMs: 200 | 800): Fault => ({
  name: `F13-${delayMs}ms`,
  title: `Redis is ${delayMs} ms away, each way`,
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
    const timeOuts = timeOutsIn(run).filter(({ at }) => at >= from && at <= until);
    return delayMs === 200 ? lateTimeOuts(run, { timeOuts }) : [];
  },
});

const BUSY_AFTER_MS = 200; // Redis answers others with -BUSY once a script has run for this long.
const SPINS = 3;
const SPIN_SECONDS = 3;
const PAUSE_MS = 700;
/** It counts rounds, since the clock stands still within a script. */
const SPIN = 'local left = tonumber(ARGV[1]) while left > 0 do left = left - 1 end return 1';
const TRIED = 1_000_000; // Few enough rounds that Redis is not busy for anybody.

/** Keep Redis busy, for as many rounds of the script as take so long on this machine. */
async function spin({ redis }: Installation): Promise<void> {
  const connection = connectTo(`redis://127.0.0.1:${redis.port}`);
  try {
    const began = performance.now();
    await connection.eval(SPIN, 0, TRIED);
    const rounds = Math.ceil((TRIED * SPIN_SECONDS * 1_000) / (performance.now() - began));
    for (let i = 1; i <= SPINS; i++) {
      await connection.eval(SPIN, 0, rounds);
      await delay(PAUSE_MS);
    }
  } finally {
    connection.disconnect();
  }
}

const FLUSH_EVERY_MS = 100;
/** Pauses between deletions: one of them meets the repair of BullMQ's schedule, just before or after it. */
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
    stops: ['scheduler'], // What BullMQ does is lost: time-outs are a few seconds late, and not more.
    lastsMs: 5_000,
    async inject({ installation: { connection, store } }) {
      for (const pauseMs of PAUSES_MS) {
        const keys = await keysOf(connection, store.keys.bull);
        if (keys.length > 0) await connection.del(keys);
        await delay(pauseMs);
      }
      return undefined;
    },
    expect: lateTimeOuts,
  },
];
