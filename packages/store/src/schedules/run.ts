import type { CreateJobRequest, SkipReason, Status } from '@yardmaster/protocol';
import { type PackedJob, packJob } from '../jobs/create/create.js';
import { withSpaceDefaults } from '../jobs/create/space-defaults.js';
import { scheduleLabel } from '../jobs/labels.js';
import { onBulk, runScript } from '../script/run-script.js';
import type { ScriptArgument } from '../script/script.js';
import { run_schedules } from '../script/scripts.generated.js';
import type { Store } from '../store.js';
import type { Plan } from './plan.js';
import type { StoredSchedule } from './record.js';

/** A run of a schedule. */
export interface Run {
  schedule: StoredSchedule;
  /** What the schedule does at a time of its own; null for a run on demand. */
  plan: Plan | null;
  /** The job to create, for a time in epoch milliseconds; null for none. */
  job: { id: string; at: number; request: CreateJobRequest } | null;
}

/** What a run has done; see run_schedules.lua. */
export interface RunResult {
  outcome: 'CREATED' | 'EXISTS' | 'REPLACED' | 'SKIPPED' | 'OVERTAKEN' | 'STORAGE_FULL' | 'BROKEN';
  reason: SkipReason | '';
  jobId: string;
  jobStatus: Status | '';
}

/** Characters of a call from which on it uses the bulk connection, so that no ack waits behind it. */
const BULK_CHARACTERS = 64 * 1_024;

/**
 * Do runs of schedules of one partition, in one script. Any number of processes can do the same runs at once.
 *
 * @returns the result of each run
 * @throws UNAVAILABLE
 */
export async function doRuns(store: Store, partition: string, runs: readonly Run[]): Promise<RunResult[]> {
  const items = runs.map(itemOf);
  const characters = items.flat().reduce<number>((sum, item) => sum + String(item).length, 0);
  const { results } = await runScript(characters > BULK_CHARACTERS ? onBulk(store) : store, run_schedules, {
    keys: { schedules: store.keys.schedules(partition) },
    args: { base: store.keys.baseOf(partition) },
    rest: items.flat(),
  });
  return runs.map((run, i) => {
    const [outcome, reason = '', jobId = '', jobStatus = '', ...killed] = results[i] as unknown as string[];
    const result = { outcome, reason, jobId, jobStatus } as RunResult;
    reportChanges(store, run, result, killed);
    return result;
  });
}

/** Return the arguments of run_schedules.lua for a run. */
function itemOf({ schedule, plan, job }: Run): ScriptArgument[] {
  const { spaceId, id, record, definition } = schedule;
  const packed = job === null ? null : packRun(schedule, job);
  const { nextAt = '', dueAt = '' } = plan?.next ?? {};
  return [
    ...[spaceId, id, record.version, plan === null ? '' : (record.nextAt as string), nextAt, dueAt],
    ...[plan?.missed ?? 0, plan?.missedAt ?? '', job?.at ?? '', definition.overlap ?? 'skip'],
    ...[
      job?.id ?? '',
      packed?.name ?? '',
      packed?.options ?? '',
      packed?.fields.length ?? 0,
      ...(packed?.fields ?? []),
    ],
  ];
}

/** Pack the job of a run: with the defaults of its space, the label of the schedule, and its time. */
function packRun({ spaceId, id, settings }: StoredSchedule, { request, at }: NonNullable<Run['job']>): PackedJob {
  const { tags, ...others } = withSpaceDefaults(request, settings);
  const packed = packJob(spaceId, { ...others, tags: [...(tags ?? []), scheduleLabel(id)] }, null);
  return { ...packed, fields: [...packed.fields, 'scheduledFor', at] };
}

function reportChanges({ observer }: Store, { schedule, job }: Run, result: RunResult, killed: string[]): void {
  const { spaceId } = schedule;
  const name = job?.request.name;
  if (result.outcome === 'CREATED') observer.changed({ from: 'none', to: 'pending', spaceId, name });
  if (result.outcome === 'REPLACED') observer.changed({ from: result.jobStatus as Status, to: 'pending' });
  const [, killedStatus, killedName] = killed;
  if (killedStatus !== undefined)
    observer.changed({ from: killedStatus as Status, to: 'killed', spaceId, name: killedName });
}
