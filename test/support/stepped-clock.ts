import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

const TIME = "redis.call('TIME')";

type Evaluate = (script: string, ...rest: unknown[]) => Promise<unknown>;

/**
 * Make a connection and its scripts read the server's clock plus a step, which is the number of seconds in a key. Several
 * connections may share the key. Nothing else of a script changes.
 *
 * @param key contains whole seconds; without it there is no step
 */
export function readSteppedClock(redis: Redis, key: string): void {
  const stepped = `(function() local t = ${TIME}; t[1] = t[1] + (redis.call('GET', '${key}') or 0) return t end)()`;
  const changedShas = new Map<string, string>();
  const [evalsha, evaluate] = [redis.evalsha.bind(redis), redis.eval.bind(redis)] as [Evaluate, Evaluate];
  const time = redis.time.bind(redis) as () => Promise<unknown[]>;
  redis.evalsha = ((sha1: string, ...rest: unknown[]) => {
    const changed = changedShas.get(sha1);
    // The error of Redis for an unknown script; the store then sends the text.
    return changed
      ? evalsha(changed, ...rest)
      : Promise.reject(new Error('NOSCRIPT the script does not use the stepped clock yet'));
  }) as typeof redis.evalsha;
  redis.eval = (async (text: string, ...rest: unknown[]) => {
    const changed = text.replaceAll(TIME, stepped);
    const reply = await evaluate(changed, ...rest);
    changedShas.set(createHash('sha1').update(text).digest('hex'), createHash('sha1').update(changed).digest('hex'));
    return reply;
  }) as typeof redis.eval;
  redis.time = (async () => {
    const [[seconds, micros], step] = await Promise.all([time(), redis.get(key)]);
    return [Number(seconds) + Number(step ?? 0), micros];
  }) as typeof redis.time;
}
