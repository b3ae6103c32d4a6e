import { membersOf, retryUnavailable, withRedisErrors } from '@yardmaster/redis';
import { dueOf, redisNow, runScript, type StoredSchedule, timingOf } from '@yardmaster/store';
import { type CheckContext, type Fault, faultOf, faultsFound, type Portion, repairFlagOf } from '../../faults.js';
import type { KeyKind } from '../../key-kinds.js';
import { check_schedule } from '../../scripts.generated.js';
import { checkedSchedule } from './record.js';

/** Latest time of a postponed schedule after now, milliseconds: a minute, and 5 more because a clock can step back. */
const CLOCK_SLACK_MS = 300_000;
const POSTPONED_MS = 60_000 + CLOCK_SLACK_MS;

/**
 * Check the record of a schedule, and whether it is in the list of its space, and due when its record says.
 *
 * @param key `<space>/<id>`, even of a schedule that does not exist
 */
export async function checkSchedule(checked: CheckContext, partition: string, key: string): Promise<Fault[]> {
  try {
    return await faultsOf(checked, partition, key);
  } catch (error) {
    // Its record or an index has a wrong type, which is reported as a fault of that key.
    if (String((error as Error).message).includes('WRONGTYPE')) return [];
    throw error;
  }
}

async function faultsOf(checked: CheckContext, partition: string, key: string): Promise<Fault[]> {
  const { store } = checked;
  const { redis, keys } = store;
  const record = `${keys.baseOf(partition)}schedule:${key}`;
  const at = await retryUnavailable(() => redisNow(store));
  const fields = await retryUnavailable(() => withRedisErrors(redis.hgetall(record)));
  const isGone = Object.keys(fields).length === 0;
  const { schedule, faults } = isGone ? { schedule: null, faults: [] } : checkedSchedule(key, fields, at);
  const { version = '', nextAt = '', createdAt = '' } = fields;
  const listedAt = isGone ? '' : /^\d{1,13}$/.test(createdAt) ? createdAt : '-';
  const { found } = await retryUnavailable(() =>
    runScript(store, check_schedule, {
      keys: { schedules: keys.schedules(partition) },
      args: {
        ...{ base: keys.baseOf(partition), isRepairing: repairFlagOf(checked), member: key },
        ...{ version, nextAt, createdAt: listedAt },
        ...(isGone ? NOT_DUE : dueTimesOf(key, schedule, { isBroken: faults.length > 0, at })),
      },
    }),
  );
  const about = { jobId: null, key: record };
  return [...faults.map((detail) => faultOf('schedule_broken', { ...about, detail }, '')), ...faultsFound(found)];
}

const NOT_DUE = { dueAt: '', latest: '' };
const MAY_BE_DUE = { dueAt: '-', latest: '' };

/** Return when a schedule that exists may be due; see check_schedule.lua. */
function dueTimesOf(key: string, schedule: StoredSchedule | null, { isBroken, at }: { isBroken: boolean; at: number }) {
  if (schedule?.definition.paused) return NOT_DUE;
  if (schedule === null || isBroken) return MAY_BE_DUE;
  const { record, definition } = schedule;
  if (record.nextAt === undefined) return NOT_DUE;
  const nextAt = Number(record.nextAt);
  const dueAt = dueOf(key, definition, timingOf(definition, Number(record.createdAt)), nextAt);
  // A sweep postpones a schedule that it cannot run by a minute.
  return { dueAt: String(dueAt), latest: String(dueAt > at + CLOCK_SLACK_MS ? dueAt : at + POSTPONED_MS) };
}

/** Check the schedules that are listed for a space, or due in a partition. Yields once per portion. */
export async function* checkListedSchedules(
  checked: CheckContext,
  key: string,
  { partition, spaceId }: Extract<KeyKind, { kind: 'schedules' }>,
): AsyncGenerator<Portion> {
  for await (const members of membersOf(checked.store.redis, key)) {
    const faults: Fault[] = [];
    for (const member of members) {
      const schedule = spaceId === null ? member : `${spaceId}/${member}`;
      faults.push(...(await checkSchedule(checked, partition, schedule)));
    }
    yield { seen: members.length, faults };
  }
}
