import {
  type CreateJobRequest,
  LIMITS,
  type ListSchedulesQuery,
  nextTime,
  type Schedule,
  type ScheduleRequest,
  type SchedulesChange,
  type SchedulesRequest,
  type ScheduleWithTimes,
  YardmasterError,
} from '@yardmaster/protocol';
import { newJobId, partitionOf, randomBase32 } from '../keys.js';
import { onBulk, runScript } from '../script/run-script.js';
import { change_schedules, read_schedules } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import { isoOf } from '../time.js';
import { dueOf, upcomingOf } from './plan.js';
import {
  type Definition,
  definitionOf,
  jobOfDefinition,
  type StoredSchedule,
  shownScheduleOf,
  storedScheduleOf,
  timingOf,
} from './record.js';
import { doRuns, type RunResult } from './run.js';

/** Number of tries when others change the same schedules at the same time. */
const TRIES = 10;

/** Bytes of records per script, exceeded by at most one record: about 1 ms. */
const BYTES = 256 * 1_024;

/** Schedules of a space. */
interface Page {
  /** When they were read, epoch milliseconds by the clock of Redis. */
  at: number;
  schedules: StoredSchedule[];
  /** Place after which the next page starts; null after the last page. */
  next: number | null;
}

async function readPage(store: Store, spaceId: string, which: { id: string } | ListSchedulesQuery): Promise<Page> {
  const { id, limit, cursor } = { id: '', limit: 1, cursor: null, ...which };
  const { at, isMore, rows } = await runScript(onBulk(store), read_schedules, {
    keys: { list: store.keys.schedulesOf(spaceId) },
    args: {
      ...{ base: store.keys.baseOfSpace(spaceId), space: spaceId, id },
      ...{ most: limit, after: cursor ?? '-inf', budget: BYTES },
    },
  });
  const found = rows as unknown as string[][];
  const last = found.at(-1)?.[2];
  const schedules = found.flatMap((row) => storedScheduleOf(row) ?? []);
  return { at, schedules, next: isMore === 1 && last !== undefined ? Number(last) : null };
}

/** Read a schedule. @throws SCHEDULE_NOT_FOUND */
async function readOne(store: Store, spaceId: string, id: string): Promise<{ at: number; schedule: StoredSchedule }> {
  const { at, schedules } = await readPage(store, spaceId, { id });
  if (schedules[0] === undefined) throw new YardmasterError('SCHEDULE_NOT_FOUND');
  return { at, schedule: schedules[0] };
}

/** Read all schedules of a space. */
async function readAll(store: Store, spaceId: string): Promise<Pick<Page, 'at' | 'schedules'>> {
  const schedules: StoredSchedule[] = [];
  for (let cursor: number | null = null; ; ) {
    const page: Page = await readPage(store, spaceId, { limit: LIMITS.schedulesMax, cursor });
    schedules.push(...page.schedules);
    cursor = page.next;
    if (cursor === null) return { at: page.at, schedules };
  }
}

/**
 * List the schedules of a space by creation. A page of large schedules has fewer than `limit`.
 *
 * @throws UNAVAILABLE
 * @see docs/api/schedules.md
 */
export async function listSchedules(
  store: Store,
  spaceId: string,
  query: ListSchedulesQuery,
): Promise<{ schedules: Schedule[]; nextCursor: string | null }> {
  const { schedules, next } = await readPage(store, spaceId, query);
  return { schedules: schedules.map(shownScheduleOf), nextCursor: next === null ? null : String(next) };
}

/**
 * Read a schedule with its next times.
 *
 * @throws SCHEDULE_NOT_FOUND, UNAVAILABLE
 */
export async function getSchedule(store: Store, spaceId: string, id: string): Promise<ScheduleWithTimes> {
  const { schedule } = await readOne(store, spaceId, id);
  const { definition, record } = schedule;
  const timing = timingOf(definition, Number(record.createdAt));
  const upcoming: string[] = [];
  for (let next = Number(record.nextAt ?? Number.NaN); upcoming.length < LIMITS.upcomingTimes; ) {
    if (Number.isNaN(next)) break;
    upcoming.push(isoOf(next));
    next = nextTime(timing, next) ?? Number.NaN;
  }
  return { ...shownScheduleOf(schedule), upcoming };
}

/** A change of one schedule; `after` null deletes it. */
interface ScheduleChange {
  id: string;
  before: StoredSchedule | null;
  after: Definition | null;
}

/** Absent value in an argument of change_schedules.lua. */
const NONE = '-';

/** Fields on which the times of a schedule depend. */
const TIMES = ['cron', 'everySeconds', 'timezone', 'startsAt', 'endsAt', 'paused'] as const;

/**
 * Make changes in one script, all or none.
 *
 * @param at when the schedules were read
 * @returns false if another call has changed one of them since then
 * @throws TOO_MANY_SCHEDULES, STORAGE_FULL, UNAVAILABLE
 */
async function change(store: Store, spaceId: string, at: number, changes: readonly ScheduleChange[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const items = changes.map(({ id, before, after }) => {
    const from = before?.record.version ?? NONE;
    if (after === null) return `${id} ${from} ${NONE} ${NONE} ${NONE} ${NONE} `;
    const createdAt = Number(before?.record.createdAt ?? at);
    const next = after.paused ? null : nextOf(`${spaceId}/${id}`, before, after, { at, createdAt });
    const { nextAt = NONE, dueAt = NONE } = next ?? {};
    return `${id} ${from} ${randomBase32(8)} ${nextAt} ${dueAt} ${createdAt} ${JSON.stringify(after)}`;
  });
  const needsMemory = changes.some(({ before, after }) => after !== null && !isOnlyPaused(before, after));
  const { outcome } = await runScript(store, change_schedules, {
    keys: { schedules: store.keys.schedules(partitionOf(spaceId)) },
    args: { base: store.keys.baseOfSpace(spaceId), space: spaceId, needsMemory: needsMemory ? '1' : '' },
    rest: items,
  });
  return outcome === 'OK';
}

const isOnlyPaused = (before: StoredSchedule | null, { paused: _, ...after }: Definition) => {
  if (before === null) return false;
  const { paused: __, ...rest } = before.definition;
  return JSON.stringify(rest) === JSON.stringify(after);
};

/** Return the next time of a changed schedule. A time that is already due stays due unless the times have changed. */
function nextOf(
  key: string,
  before: StoredSchedule | null,
  after: Definition,
  { at, createdAt }: { at: number; createdAt: number },
) {
  const timing = timingOf(after, createdAt);
  const known = before?.record.nextAt;
  if (known === undefined || TIMES.some((field) => before?.definition[field] !== after[field]))
    return upcomingOf(key, after, timing, at);
  return { nextAt: Number(known), dueAt: dueOf(key, after, timing, Number(known)) };
}

/** Repeat a change that another call has overtaken. @throws OVERLOADED when others keep changing the schedules */
async function untilMade<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const made = await attempt();
    if (made !== null) return made;
  }
  throw new YardmasterError('OVERLOADED');
}

/** Check that a schedule may be declared by this owner. @throws SCHEDULE_OWNED */
function checkOwner(before: StoredSchedule | null, owner: string | null): void {
  const current = before?.definition.owner;
  if (current === undefined || current === owner) return;
  throw new YardmasterError('SCHEDULE_OWNED', `${current} has declared schedule ${before?.id}`);
}

const isSame = (before: StoredSchedule | null, after: Definition) =>
  before?.record.definition === JSON.stringify(after);

/**
 * Create or change a schedule.
 *
 * @returns the schedule, and whether it is new or changed
 * @throws SCHEDULE_OWNED, TOO_MANY_SCHEDULES, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see docs/api/schedules.md
 */
export function putSchedule(
  store: Store,
  spaceId: string,
  id: string,
  request: ScheduleRequest,
): Promise<{ schedule: Schedule; outcome: 'created' | 'changed' | 'unchanged' }> {
  return untilMade(async () => {
    const { at, schedules } = await readPage(store, spaceId, { id });
    const before = schedules[0] ?? null;
    checkOwner(before, request.owner);
    const after = definitionOf(request, before?.definition.paused === true);
    const isUnchanged = isSame(before, after);
    if (!isUnchanged && !(await change(store, spaceId, at, [{ id, before, after }]))) return null;
    const { schedule } = await readOne(store, spaceId, id);
    const outcome = before === null ? 'created' : isUnchanged ? 'unchanged' : 'changed';
    return { schedule: shownScheduleOf(schedule), outcome };
  });
}

/**
 * Create, change and, with `prune`, delete schedules, so that an owner has those that it declares.
 *
 * @throws SCHEDULE_OWNED, TOO_MANY_SCHEDULES, STORAGE_FULL, OVERLOADED, UNAVAILABLE. Nothing is changed then
 * @see docs/api/schedules.md
 */
export function putSchedules(store: Store, spaceId: string, request: SchedulesRequest): Promise<SchedulesChange> {
  return untilMade(async () => {
    const { at, schedules } = await readAll(store, spaceId);
    const changes = changesFor(request, schedules);
    const count = (is: (change: ScheduleChange) => boolean) => changes.filter(is).length;
    const counts = {
      created: count(({ before }) => before === null),
      changed: count(({ before, after }) => before !== null && after !== null),
      unchanged: request.schedules.length - count(({ after }) => after !== null),
      deleted: count(({ after }) => after === null),
    };
    return (await change(store, spaceId, at, changes)) ? counts : null;
  });
}

/** Return the changes that leave an owner with the schedules of a request. @throws SCHEDULE_OWNED */
function changesFor(
  { owner, schedules: declared, prune }: SchedulesRequest,
  schedules: readonly StoredSchedule[],
): ScheduleChange[] {
  const known = new Map(schedules.map((schedule) => [schedule.id, schedule]));
  const changes: ScheduleChange[] = [];
  for (const { id, ...one } of declared) {
    const before = known.get(id) ?? null;
    checkOwner(before, owner);
    const after = definitionOf({ ...one, owner }, before?.definition.paused === true);
    if (!isSame(before, after)) changes.push({ id, before, after });
    known.delete(id);
  }
  if (!prune) return changes;
  const others = [...known.values()].filter(({ definition }) => definition.owner === owner);
  return [...changes, ...others.map((before) => ({ id: before.id, before, after: null }))];
}

/**
 * Pause or resume a schedule. Times that pass while it is paused are not made up for.
 *
 * @returns the schedule, and whether it has changed
 * @throws SCHEDULE_NOT_FOUND, OVERLOADED, UNAVAILABLE
 */
export function pauseSchedule(
  store: Store,
  spaceId: string,
  id: string,
  paused: boolean,
): Promise<{ schedule: Schedule; isChanged: boolean }> {
  return untilMade(async () => {
    const { at, schedule: before } = await readOne(store, spaceId, id);
    const { paused: wasPaused = false, owner, ...rest } = before.definition;
    if (wasPaused === paused) return { schedule: shownScheduleOf(before), isChanged: false };
    const after: Definition = { ...rest, ...(paused && { paused }), ...(owner !== undefined && { owner }) };
    if (!(await change(store, spaceId, at, [{ id, before, after }]))) return null;
    const { schedule } = await readOne(store, spaceId, id);
    return { schedule: shownScheduleOf(schedule), isChanged: true };
  });
}

/**
 * Delete a schedule. Its jobs stay.
 *
 * @throws SCHEDULE_NOT_FOUND, OVERLOADED, UNAVAILABLE
 */
export async function deleteSchedule(store: Store, spaceId: string, id: string): Promise<void> {
  await untilMade(async () => {
    const { at, schedule: before } = await readOne(store, spaceId, id);
    return (await change(store, spaceId, at, [{ id, before, after: null }])) || null;
  });
}

/**
 * Run a schedule now, even while it is paused.
 *
 * @param payload undefined for that of the schedule
 * @returns the job, and whether it is new rather than one that holds its unique key
 * @throws SCHEDULE_NOT_FOUND, SCHEDULE_RUNNING, JOB_NOT_UNIQUE, SPACE_FULL, STORAGE_FULL, STORAGE_UNSAFE, OVERLOADED,
 *   UNAVAILABLE
 */
export function runSchedule(
  store: Store,
  spaceId: string,
  id: string,
  payload: CreateJobRequest['payload'] | undefined,
): Promise<{ jobId: string; isNew: boolean }> {
  if (!store.known.isStorageSafe) throw new YardmasterError('STORAGE_UNSAFE');
  return untilMade(async () => {
    const { at, schedule } = await readOne(store, spaceId, id);
    const request = jobOfDefinition(schedule.definition);
    const job = { id: newJobId(spaceId), at, request: payload === undefined ? request : { ...request, payload } };
    const [result] = await doRuns(store, partitionOf(spaceId), [{ schedule, plan: null, job }]);
    return jobOfRun(result as RunResult, request);
  });
}

/** Return the job of a run on demand; null if the schedule has changed since it was read. */
function jobOfRun(
  { outcome, reason, jobId, jobStatus }: RunResult,
  { unique }: CreateJobRequest,
): { jobId: string; isNew: boolean } | null {
  if (outcome === 'OVERTAKEN') return null;
  if (outcome === 'STORAGE_FULL') throw new YardmasterError('STORAGE_FULL');
  if (outcome === 'BROKEN') throw new Error(`the job of a schedule was not created: ${reason}`);
  if (outcome !== 'SKIPPED') return { jobId, isNew: outcome === 'CREATED' };
  const about = { jobId, ...(jobStatus !== '' && { jobStatus }) };
  if (reason === 'OVERLAP') throw new YardmasterError('SCHEDULE_RUNNING', undefined, about);
  if (reason === 'SPACE_FULL') throw new YardmasterError('SPACE_FULL');
  if (unique?.onConflict === 'reject') throw new YardmasterError('JOB_NOT_UNIQUE', undefined, about);
  return { jobId, isNew: false };
}
