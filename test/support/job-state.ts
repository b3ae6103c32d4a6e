import { STATE_PARTS, statePartsOf } from '@yardmaster/store';
import type { Redis } from 'ioredis';

type Parts = Record<(typeof STATE_PARTS)[number], string>;

/** Read the parts of the state of a job's record. */
export async function readState(redis: Pick<Redis, 'hget'>, jobKey: string): Promise<Parts> {
  const values = statePartsOf((await redis.hget(jobKey, 'state')) ?? '') ?? [];
  return Object.fromEntries(STATE_PARTS.map((part, i) => [part, values[i] ?? ''])) as Parts;
}

/** Write parts of the state of a job's record, valid or not. */
export async function changeState(
  redis: Pick<Redis, 'hget' | 'hset'>,
  jobKey: string,
  changes: Partial<Record<keyof Parts, string | number>>,
): Promise<void> {
  const parts = { ...(await readState(redis, jobKey)), ...changes };
  await redis.hset(jobKey, 'state', STATE_PARTS.map((part) => parts[part]).join(' '));
}

/** Flags of fields of the record. */
const FLAGS: Record<string, string> = {
  ...{ unique: 'u', callbackUrl: 'c', tags: 't', priority: 'p', startWithinSeconds: 's', maxRunSeconds: 'm' },
  ...{ retry: 'r', checkpoint: 'k', deliveryTimeouts: 'd' },
};

/** Write a field of a job's record, a part of its state included, with the flag that says so; null removes it. */
export async function setField(
  redis: Pick<Redis, 'hget' | 'hset' | 'hdel'>,
  jobKey: string,
  field: string,
  value: string | number | null,
): Promise<void> {
  if ((STATE_PARTS as readonly string[]).includes(field)) return changeState(redis, jobKey, { [field]: value ?? '' });
  if (value === null) await redis.hdel(jobKey, field);
  else await redis.hset(jobKey, field, value);
  const flag = FLAGS[field];
  if (flag === undefined) return;
  const { flags } = await readState(redis, jobKey);
  await changeState(redis, jobKey, { flags: flags.replace(flag, '') + (value === null ? '' : flag) });
}

/** Add the flag of an option to the state of a job's record. */
export const addFlag = async (redis: Pick<Redis, 'hget' | 'hset'>, jobKey: string, flag: string): Promise<void> =>
  changeState(redis, jobKey, { flags: (await readState(redis, jobKey)).flags + flag });

/** Return the token of a delivery of a job, given as attempts and returns, such as `1.0`. */
export async function tokenOf(redis: Pick<Redis, 'hget'>, jobKey: string, delivery: string): Promise<string> {
  return `${delivery}.${Number((await readState(redis, jobKey)).order).toString(36)}`;
}

/** Lua that makes the state of a job (its key) agree with the list of its history. ARGV: how many events were dropped. */
export const AGREE_WITH_LIST = `
local before, seq, after, flags, place = string.match(redis.call('HGET', KEYS[1], 'state'), '^(%S+ %S+ %S+ %S+ )(%S+)( %S+ %S+ %S+ )(%S+)(.*)$')
seq = 1 + redis.call('LLEN', KEYS[1] .. ':events') + (ARGV[1] or 0)
return redis.call('HSET', KEYS[1], 'state', before .. seq .. after .. string.gsub(flags, 'h', '') .. 'h' .. place)`;

/** Append entries to the list of a job's history, as scripts do, without a message. */
export async function appendEvents(
  redis: Pick<Redis, 'rpush' | 'eval'>,
  jobKey: string,
  ...entries: string[]
): Promise<void> {
  await redis.rpush(`${jobKey}:events`, ...entries);
  await redis.eval(AGREE_WITH_LIST, 1, jobKey);
}
