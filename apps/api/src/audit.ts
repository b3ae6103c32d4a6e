import { requestIdOfResponse } from '@yardmaster/server';
import { readSpaceOf } from '@yardmaster/store';
import type { Act, Call } from './call.js';

/** Spaces of the jobs on which calls act; null for an unknown job. */
const spacesOfJobs = new WeakMap<Call, Promise<string | null>>();

/** Return whether an act is about the job in the path. */
const isOnJob = (action: string) => action.startsWith('job.');

/**
 * Look up the space of an act before its handler runs, because the job may be gone afterwards. The read is sent to Redis
 * together with the handler's first command, so it costs no extra round trip.
 */
export function beginAct(action: string, call: Call): void {
  // The handler refuses jobs outside the caller's space.
  if (!isOnJob(action) || call.id === '' || call.caller.spaceId !== null) return;
  const reading = readSpaceOf(call.store, call.id).catch(() => null);
  spacesOfJobs.set(call, reading);
}

/**
 * Log an act that succeeded and add it to the audit. If this process dies first, neither exists; if Redis fails, only the
 * log line does.
 */
export async function recordAct(action: string, call: Call, { spaceId, jobId, details = {} }: Act = {}): Promise<void> {
  const { req, res, caller, deps } = call;
  const known = call.spaceId || caller.spaceId;
  const act = {
    keyId: caller.keyId,
    keyName: caller.name,
    action,
    spaceId: spaceId === undefined ? (known ?? (await spacesOfJobs.get(call)) ?? null) : spaceId,
    jobId: jobId ?? (isOnJob(action) && call.id !== '' ? call.id : null),
    details,
  };
  await deps.audit.record(act, { req, requestId: requestIdOfResponse(res) });
}
