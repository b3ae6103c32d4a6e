import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Moment } from '../world.js';

/** The key of the model's time in Redis: a single one, so that each script has a single changed text. */
const KEY = `t-model-clock-${process.pid}`;

const TIME = "redis.call('TIME')";

const shaOf = (text: string) => createHash('sha1').update(text).digest('hex');

/**
 * Make a connection and its scripts read the time from a key instead of the server's clock, so that a test can move it by
 * any number of days. Nothing else of a script changes.
 */
export function freezeClock(redis: Redis): void {
  const frozen = new Map<string, string>();
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as [Evaluate, Evaluate];
  redis.evalsha = ((sha1: string, ...rest: unknown[]) => {
    const known = frozen.get(sha1);
    // The error of Redis for an unknown script; the store then sends the text.
    return known
      ? evalsha(known, ...rest)
      : Promise.reject(new Error('NOSCRIPT the script does not use the frozen clock yet'));
  }) as typeof redis.evalsha;
  redis.eval = (async (text: string, ...rest: unknown[]) => {
    const changed = text.replaceAll(TIME, `redis.call('HMGET', '${KEY}', 'seconds', 'micros')`);
    const reply = await evaluate(changed, ...rest);
    frozen.set(shaOf(text), shaOf(changed));
    return reply;
  }) as typeof redis.eval;
  redis.time = (() => redis.hmget(KEY, 'seconds', 'micros')) as unknown as typeof redis.time;
}

type Evaluate = (script: string, ...rest: unknown[]) => Promise<unknown>;

/** Return a moment whose microseconds, and whose number for jitter, differ from those of the millisecond before. */
export const momentAt = (ms: number): Moment => ({
  now: ms,
  micros: (ms * 37) % 400,
  random: ((ms % 997) * 0.618) % 1,
});

/** @param ms epoch milliseconds, which every script reads from now on */
export async function setClock(redis: Redis, ms: number): Promise<void> {
  const micros = (ms % 1_000) * 1_000 + momentAt(ms).micros;
  await redis.hset(KEY, 'seconds', Math.floor(ms / 1_000), 'micros', micros);
}

export async function removeClock(redis: Redis): Promise<void> {
  await redis.del(KEY);
}
