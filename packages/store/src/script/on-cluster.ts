import { createHash } from 'node:crypto';
import type { RedisClient } from '@yardmaster/redis';
import { Cluster } from 'ioredis';

/** Text of a script as Redis gets it. */
interface ScriptText {
  sha1: string;
  text: string;
}

/**
 * Lines that stop a script while its slot moves to another node. Some of a job's keys may then be on one node, and some
 * on the other. Redis notices that key by key, so a script would stop half-way, after its first writes. Two keys that
 * never exist show it beforehand: both the node that gives the slot away and the node that gets it refuse them.
 */
const SLOT_GUARD = `local probe = redis.pcall('EXISTS', KEYS[1] .. '?1', KEYS[1] .. '?2')
if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end
`;

/** First word of the reply when a script did nothing because its slot is being moved. */
export const SLOT_MOVING = 'SLOT_MOVING';

const variants = new Map<string, ScriptText>();

/**
 * Return the text of a script for this Redis. On a cluster, it publishes to the shard of its slot, because PUBLISH
 * would send every event to every node. It also has a guard against a slot that is being moved.
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
