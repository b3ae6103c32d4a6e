import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** Where the time of the model stands in Redis: one key, so that Redis knows each script by one text only. */
const KEY = `t-model-clock-${process.pid}`;

const TIME = "redis.call('TIME')";

const shaOf = (text: string) => createHash('sha1').update(text).digest('hex');

/**
 * Let a connection, and the scripts that it runs, read the time from a key in place of the server's clock, so that it passes
 * only when a test says so, and any number of days at once. Nothing else of a script changes.
 */
export function freezeClock(redis: Redis): void {
  const frozen = new Map<string, string>();
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as [Evaluate, Evaluate];
  redis.evalsha = ((sha1: string, ...rest: unknown[]) => {
    const known = frozen.get(sha1);
    // What Redis says to a script that it does not know; the store then sends the text.
    return known ? evalsha(known, ...rest) : Promise.reject(new Error('NOSCRIPT its clock is to be frozen'));
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

/** @param ms epoch milliseconds, which every script reads from now on */
export async function setClock(redis: Redis, ms: number): Promise<void> {
  // Some microseconds, another number in each millisecond.
  const micros = (ms % 1_000) * 1_000 + ((ms * 37) % 400);
  await redis.hset(KEY, 'seconds', Math.floor(ms / 1_000), 'micros', micros);
}

export async function removeClock(redis: Redis): Promise<void> {
  await redis.del(KEY);
}
