import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import type { RedisClient } from './store.js';

/** What Redis is sent of a script. */
interface ScriptText {
  sha1: string;
  text: string;
}

/**
 * While its slot moves to another node, a part of a job's keys is here and a part there. Redis finds that out key by
 * key, so a script would be cut off half-way, its first writes done. Two keys that never exist tell beforehand: a node
 * that gives the slot away refuses them, and so does the one that gets it.
 */
const SLOT_GUARD = `local probe = redis.pcall('EXISTS', KEYS[1] .. '?1', KEYS[1] .. '?2')
if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end
`;

/** What a script returns, in place of its own words, when nothing was done because its slot is being moved. */
export const SLOT_MOVING = 'SLOT_MOVING';

const variants = new Map<string, ScriptText>();

/**
 * The text of a script for this Redis. On a cluster it publishes to the shard of its slot, since PUBLISH would send
 * every event to every node, and it is guarded against a slot that is being moved.
 */
export function textOn(redis: RedisClient, script: ScriptText): ScriptText {
  if (!(redis instanceof Cluster)) return script;
  const known = variants.get(script.sha1);
  if (known !== undefined) return known;
  const text = SLOT_GUARD + script.text.replaceAll("redis.call('PUBLISH',", "redis.call('SPUBLISH',");
  const variant = { sha1: createHash('sha1').update(text).digest('hex'), text };
  variants.set(script.sha1, variant);
  return variant;
}
