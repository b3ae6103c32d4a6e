import { requestIdOfResponse } from '@yardmaster/server';
import { appendAct, readSpaceOf } from '@yardmaster/store';
import type { Act, Call } from './call.js';

/** Longer than any address, because a proxy may write anything in its place. */
const ADDRESS_LENGTH = 64;

/** Spaces of the jobs on which calls act; null for an unknown job. */
const spacesOfJobs = new WeakMap<Call, Promise<string | null>>();

/** Whether an act is one on the job in the path. */
const isOnJob = (action: string) => action.startsWith('job.');

/**
 * Find out the space of an act before its handler runs: afterwards, the job may be gone. The read is sent to Redis together
 * with the handler's first command, so the call needs no other round trip.
 */
export function beginAct(action: string, call: Call): void {
  // The handler refuses jobs of other spaces than the caller's.
  if (!isOnJob(action) || call.caller.spaceId !== null) return;
  const reading = readSpaceOf(call.store, call.id).catch(() => null);
  spacesOfJobs.set(call, reading);
}

/**
 * Log an act that succeeded, and add it to the audit. The act stands even if its entry cannot be written, so a failure is only
 * logged. If this process ends in between, neither exists; if Redis fails, only the log line does.
 */
export async function recordAct(action: string, call: Call, { spaceId, details = {} }: Act = {}): Promise<void> {
  const { store, req, res, caller, deps } = call;
  const known = call.spaceId || caller.spaceId;
  const act = {
    keyId: caller.keyId,
    keyName: caller.name,
    action,
    spaceId: spaceId === undefined ? (known ?? (await spacesOfJobs.get(call)) ?? null) : spaceId,
    jobId: isOnJob(action) ? call.id : null,
    address: deps.addressOf(req).slice(0, ADDRESS_LENGTH),
    requestId: requestIdOfResponse(res),
    details,
  };
  deps.log.info(act, 'act done');
  try {
    await appendAct(store, act);
  } catch (err) {
    deps.log.warn({ err, requestId: act.requestId, action }, 'act not added to the audit');
  }
}
