import { fieldsOf, membersOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { runScript, type Store } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, faultsFound, type Portion, repairFlagOf } from '../faults.js';
import { check_api_keys } from '../scripts.generated.js';

/** Look for API keys that cannot be read, or are missing from an index. Yields once per portion. */
export async function* checkApiKeys(checked: CheckContext): AsyncGenerator<Portion> {
  const { redis, keys } = checked.store;
  const { apiKeys: key, apiKeyIndex: index, apiKeyChildren: children, revoking } = keys;
  for await (const records of fieldsOf(redis, key)) {
    const broken = records.filter(([id, record]) => !isApiKey(id, record));
    const sound = records.filter((one) => !broken.includes(one));
    const { found } = await retryUnavailable(() =>
      runScript(checked.store, check_api_keys, {
        keys: { records: key, index, children, revoking },
        args: { isRepairing: repairFlagOf(checked) },
        rest: sound.flatMap(([id, record]) => [id, ...spaceAndMakerOf(record)]),
      }),
    );
    const faults = broken
      // The record is not quoted, because it contains the hash of the secret.
      .map(([id]) =>
        faultOf('api_key_broken', { jobId: null, key, detail: `key ${id}: revoke it and create a new one` }, ''),
      );
    yield { seen: records.length, faults: [...faults, ...faultsFound(found)] };
  }
}

type Index = 'apiKeyIndex' | 'apiKeyChildren';

/**
 * Look for entries of an API key index that do not match the records. Yields once per portion.
 *
 * IDs are never reused, and the space and the maker of a key never change, so a wrong entry stays wrong. An entry that still
 * exists after the reads that rule it out is therefore a fault.
 */
export async function* checkApiKeyEntries(checked: CheckContext, index: Index): AsyncGenerator<Portion> {
  const { store, isRepairing } = checked;
  const key = store.keys[index];
  const isThere = async (entry: string) =>
    isRepairing ? (await store.redis.zrem(key, entry)) === 1 : (await store.redis.zscore(key, entry)) !== null;
  for await (const entries of membersOf(store.redis, key)) {
    const reasons = await retryUnavailable(() => withRedisErrors(reasonsOf(store, index, entries)));
    const faults: Fault[] = [];
    for (const [n, entry] of entries.entries()) {
      const why = reasons[n] ?? null;
      if (why === null || !(await retryUnavailable(() => withRedisErrors(isThere(entry))))) continue;
      const at = { jobId: null, key, detail: `${entry}: ${why}` };
      faults.push(faultOf('api_key_stray', at, isRepairing ? 'repaired' : ''));
    }
    yield { seen: entries.length, faults };
  }
}

/** Return why each entry does not belong there; null if it does, or if its record cannot be read. */
async function reasonsOf({ redis, keys }: Store, index: Index, entries: string[]): Promise<(string | null)[]> {
  const split = entries.map((entry) => entry.split('/'));
  const firsts = split.map(([first = '']) => first);
  const records = await redis.hmget(keys.apiKeys, ...split.map(([, id = '']) => id));
  // In this order, because a revocation moves a key from the records to `revoking`.
  const makers = await redis.hmget(keys.apiKeys, ...firsts);
  const areRevoking = await redis.smismember(keys.revoking, ...firsts);
  return split.map(([, id = ''], n) => {
    const record = records[n];
    if (typeof record !== 'string') return `key ${id} does not exist`;
    if (!isApiKey(id, record)) return null;
    const [space, maker] = spaceAndMakerOf(record);
    const own = { apiKeyIndex: [`/${id}`, `${space}/${id}`], apiKeyChildren: [`${maker}/${id}/${space}`] };
    if (!own[index].includes(entries[n] as string)) return `key ${id} does not belong there`;
    const isMakerGone = index === 'apiKeyChildren' && makers[n] === null && areRevoking[n] === 0;
    return isMakerGone ? `key ${maker} does not exist` : null;
  });
}

function isApiKey(id: string, text: string): boolean {
  try {
    const key = JSON.parse(text) as Record<string, unknown>;
    const isTextOrNull = (value: unknown) => value === null || typeof value === 'string';
    return (
      key.id === id &&
      typeof key.name === 'string' &&
      Array.isArray(key.scopes) &&
      isTextOrNull(key.spaceId) &&
      (key.expiresAt === null || !Number.isNaN(Date.parse(String(key.expiresAt)))) &&
      isHash(key.secretHash) &&
      (key.rotations === undefined || Number.isSafeInteger(key.rotations)) &&
      (key.previous === undefined || isPrevious(key.previous)) &&
      (key.limits === undefined || isLimits(key.limits)) &&
      (key.createdBy === undefined || typeof key.createdBy === 'string') &&
      (key.shared === undefined || (Array.isArray(key.shared) && key.shared.every(isBucket)))
    );
  } catch {
    return false;
  }
}

/** Check whether a value is a hash of 32 bytes. */
const isHash = (value: unknown) => typeof value === 'string' && Buffer.from(value, 'base64').length === 32;

/** Check whether a value is a previous secret with the end of its overlap. */
function isPrevious(value: unknown): boolean {
  const { secretHash, until } = Object(value) as Record<string, unknown>;
  return isHash(secretHash) && !Number.isNaN(Date.parse(String(until)));
}

/** Check whether a value is a bucket of another key. */
const isBucket = (value: unknown) => typeof Object(value).keyId === 'string' && isLimits(value);

/** Check whether a value is the limits of a key. */
function isLimits(value: unknown): boolean {
  const { perSecond, burst } = Object(value) as Record<string, unknown>;
  return [perSecond, burst].every((each) => typeof each === 'number' && each > 0);
}

/** Return the space and the maker of a valid key; '' for none. */
function spaceAndMakerOf(record: string): [space: string, maker: string] {
  const { spaceId, createdBy } = JSON.parse(record);
  return [spaceId ?? '', createdBy ?? ''];
}
