import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { connectTo } from '../../support/connect.js';
import type { Fault } from '../fault.js';
import { codesDuring, servedAgainAfter, slowestAnswer, unanswered } from '../measures.js';

/** Redis answers everybody else with -BUSY once a script has run for this long. */
const BUSY_AFTER_MS = 200;

const TIMES = 3;
const SPIN_SECONDS = 3;
const PAUSE_MS = 700;

/** Counted, since no clock goes on within a script. */
const SPIN = 'local left = tonumber(ARGV[1]) while left > 0 do left = left - 1 end return 1';

/** Few enough to be over before anybody is told that Redis is busy. */
const TRIED = 1_000_000;

/** How many rounds of the script take so long on this machine. */
async function roundsFor(seconds: number, connection: Redis): Promise<number> {
  const began = performance.now();
  await connection.eval(SPIN, 0, TRIED);
  return Math.ceil((TRIED * seconds * 1_000) / (performance.now() - began));
}

export const faults: Fault[] = [
  {
    id: 'F14',
    title: `somebody's script keeps Redis busy for ${SPIN_SECONDS} s, ${TIMES} times`,
    promises: ['P4', 'P12', 'P13'],
    stops: ['redis'],
    lastsMs: 0,
    installation: { redisLines: [`lua-time-limit ${BUSY_AFTER_MS}`] },
    async inject({ installation }) {
      const connection = connectTo(`redis://127.0.0.1:${installation.redis.port}`);
      const spin = async () => {
        const rounds = await roundsFor(SPIN_SECONDS, connection);
        for (let i = 1; i <= TIMES; i++) {
          await connection.eval(SPIN, 0, rounds);
          if (i < TIMES) await delay(PAUSE_MS);
        }
      };
      return () => spin().finally(() => connection.disconnect());
    },
    expect(run) {
      run.figures['slowest answer ms'] = slowestAnswer(run);
      run.figures['served again after ms'] = servedAgainAfter(run, run.outage.until);
      run.figures['answered UNAVAILABLE'] = codesDuring(run).get('UNAVAILABLE') ?? 0;
      return unanswered(run);
    },
  },
];
