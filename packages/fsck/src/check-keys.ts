import { retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { checkActOwners, checkActs, checkActsOf } from './checks/acts.js';
import { checkApiKeyEntries, checkApiKeys } from './checks/api-keys.js';
import { checkEntries, checkUniqueEntries } from './checks/entries/entries.js';
import { checkJobs, type JobBatches } from './checks/jobs.js';
import { checkOperations } from './checks/operations.js';
import { checkLists } from './checks/orphans.js';
import { checkListedSchedules, checkSchedule } from './checks/schedules/schedules.js';
import { checkRecount } from './checks/spaces/bytes.js';
import { checkPaused } from './checks/spaces/paused.js';
import { checkSettings } from './checks/spaces/settings.js';
import { type CheckContext, type Fault, faultOf, type Portion } from './faults.js';
import { type KeyKind, keyKindOf, TYPE_OF } from './key-kinds.js';

type Of<K extends KeyKind['kind']> = Extract<KeyKind, { kind: K }> & { key: string };

/** Numbers of items checked so far. */
export interface Seen {
  keys: number;
  jobs: number;
  entries: number;
  /** Spaces whose jobs were counted by name. */
  spaces: number;
  /** Spaces that could not be counted, because their jobs were purged too fast. */
  uncounted: number;
  apiKeys: number;
}

/** Result of one step of a check. */
export type Step = Portion & { of: keyof Seen; namesOf?: string[] };

/** Check some jobs of one partition, if there are any. */
export async function* stepOver(checked: CheckContext, jobIds: string[]): AsyncGenerator<Step> {
  if (jobIds.length > 0) yield { of: 'jobs', seen: jobIds.length, faults: await checkJobs(checked, jobIds) };
}

/** Check some keys and their contents, except jobs that are still waiting for a full batch. Yields after each step. */
export async function* checkKeys(checked: CheckContext, keys: string[], waiting: JobBatches): AsyncGenerator<Step> {
  const { sound, faults } = await sorted(checked, keys);
  yield { of: 'keys', seen: keys.length, faults };

  for (const { jobId } of ofKind(sound, 'job')) yield* stepOver(checked, waiting.add(jobId));
  const namesOf = ofKind(sound, 'names').map(({ spaceId }) => spaceId);
  yield { of: 'keys', seen: 0, faults: await checkLists(checked, ofKind(sound, 'list')), namesOf };
  yield { of: 'keys', seen: 0, faults: await checkOperations(checked, ofKind(sound, 'operation')) };
  for (const { key, ...index } of ofKind(sound, 'index')) {
    for await (const portion of checkEntries(checked, key, index)) yield { of: 'entries', ...portion };
  }
  for (const { key, ...unique } of ofKind(sound, 'unique')) {
    for await (const portion of checkUniqueEntries(checked, key, unique)) yield { of: 'entries', ...portion };
  }
  yield* stepOverSchedules(checked, sound);
  for (const { spaceId } of ofKind(sound, 'paused'))
    yield { of: 'keys', seen: 0, faults: await checkPaused(checked, spaceId) };
  for (const { spaceId } of ofKind(sound, 'bytes'))
    yield { of: 'keys', seen: 0, faults: await checkRecount(checked, spaceId) };
  for (const { partition } of ofKind(sound, 'settings')) {
    for await (const { faults } of checkSettings(checked, partition)) yield { of: 'keys', seen: 0, faults };
  }
  for await (const faults of checkAudit(checked, sound)) yield { of: 'keys', seen: 0, faults };
  yield* stepOverApiKeys(checked, sound);
}

/** Check those of these keys that hold schedules and their indexes. */
async function* stepOverSchedules(checked: CheckContext, sound: (KeyKind & { key: string })[]): AsyncGenerator<Step> {
  for (const { partition, schedule } of ofKind(sound, 'schedule'))
    yield { of: 'keys', seen: 0, faults: await checkSchedule(checked, partition, schedule) };
  for (const { key, ...list } of ofKind(sound, 'schedules')) {
    for await (const portion of checkListedSchedules(checked, key, list)) yield { of: 'entries', ...portion };
  }
}

/** Check those of these keys that hold API keys and their indexes. */
async function* stepOverApiKeys(checked: CheckContext, sound: (KeyKind & { key: string })[]): AsyncGenerator<Step> {
  if (ofKind(sound, 'apiKeys').length > 0) {
    for await (const portion of checkApiKeys(checked)) yield { of: 'apiKeys', ...portion };
  }
  for (const kind of ['apiKeyIndex', 'apiKeyChildren'] as const) {
    if (ofKind(sound, kind).length === 0) continue;
    for await (const portion of checkApiKeyEntries(checked, kind)) yield { of: 'entries', ...portion };
  }
}

async function* checkAudit(checked: CheckContext, sound: (KeyKind & { key: string })[]): AsyncGenerator<Fault[]> {
  const { audit } = checked.store.keys;
  for (const { key } of ofKind(sound, 'acts')) yield* checkActs(checked, key);
  for (const { stream, owner } of ofKind(sound, 'actsOf')) yield* checkActsOf(checked, audit(stream), owner);
  for (const { stream } of ofKind(sound, 'actOwners')) yield* checkActOwners(checked, audit(stream));
}

const ofKind = <K extends KeyKind['kind']>(all: (KeyKind & { key: string })[], kind: K) =>
  all.filter((each): each is Of<K> => each.kind === kind);

/** Return the keys whose types match their names, and a fault for every other key. */
async function sorted({ store }: CheckContext, keys: string[]) {
  const prefixLength = store.settings.keyPrefix.length + 1;
  const faults: Fault[] = [];
  const sound: (KeyKind & { key: string })[] = [];
  await Promise.all(
    keys.map(async (key) => {
      const kind = keyKindOf(key.slice(prefixLength));
      if (kind.kind === 'bull') return;
      const at = { jobId: 'jobId' in kind ? kind.jobId : null, key };
      const type = await retryUnavailable(() => withRedisErrors(store.redis.type(key)));
      if (type === 'none') return; // It has been deleted in the meantime.
      if (kind.kind === 'unknown') faults.push(faultOf('key_unknown', { ...at, detail: `it is a ${type}` }, ''));
      else if (type === TYPE_OF[kind.kind]) sound.push({ ...kind, key });
      else {
        const detail = `it is a ${type}, but must be a ${TYPE_OF[kind.kind]}`;
        faults.push(faultOf('key_wrong_type', { ...at, detail }, ''));
      }
    }),
  );
  return { sound, faults };
}
