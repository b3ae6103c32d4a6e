import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

const TIME = "redis.call('TIME')";

type Evaluate = (script: string, ...rest: unknown[]) => Promise<unknown>;

/**
 * Let a connection, and the scripts that it runs, read the server's clock with a step added: as many seconds as a key says,
 * which several connections may share. Nothing else of a script changes.
 *
 * @param key holds whole seconds; without it there is no step
 */
export function readSteppedClock(redis: Redis, key: string): void {
  const stepped = `(function() local t = ${TIME}; t[1] = t[1] + (redis.call('GET', '${key}') or 0) return t end)()`;
  const known = new Map<string, string>();
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as [Evaluate, Evaluate];
  const time = redis.time.bind(redis) as () => Promise<unknown[]>;
  redis.evalsha = ((sha1: string, ...rest: unknown[]) => {
    const changed = known.get(sha1);
    // What Redis says to a script that it does not know; the store then sends the text.
    return changed ? evalsha(changed, ...rest) : Promise.reject(new Error('NOSCRIPT its clock is to be stepped'));
  }) as typeof redis.evalsha;
  redis.eval = (async (text: string, ...rest: unknown[]) => {
    const changed = text.replaceAll(TIME, stepped);
    const reply = await evaluate(changed, ...rest);
    known.set(createHash('sha1').update(text).digest('hex'), createHash('sha1').update(changed).digest('hex'));
    return reply;
  }) as typeof redis.eval;
  redis.time = (async () => {
    const [[seconds, micros], step] = await Promise.all([time(), redis.get(key)]);
    return [Number(seconds) + Number(step ?? 0), micros];
  }) as typeof redis.time;
}
