import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '@yardmaster/runtime';
import { requestIdOfResponse } from '@yardmaster/server';
import { type Act, appendAct, readSpaceOf } from '@yardmaster/store';
import type { Call, Route } from '../routes/route.js';

/** Longer than any address, because a proxy may write anything in its place. */
const ADDRESS_LENGTH = 64;

/**
 * Find out the space of an act before its handler runs: afterwards, the job may be gone. The read is sent to Redis together
 * with the handler's first command, so the call needs no other round trip.
 */
export function beginAct(call: Call): void {
  const { store, caller, spaceId, jobId } = call;
  const known = spaceId || caller.spaceId; // The handler refuses jobs of other spaces than the caller's.
  call.act = { spaceId: known };
  if (known !== null || jobId === '') return;
  call.spaceOfJob = readSpaceOf(store, jobId).catch(() => null);
}

/**
 * Log an act that succeeded, and add it to the audit. The act stands even if its entry cannot be written, so a failure is only
 * logged. If this process ends in between, neither exists; if Redis fails, only the log line does.
 */
export async function recordAct(
  { audit }: Route,
  call: Call,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  { addressOf, log }: { addressOf(req: IncomingMessage): string; log: Logger },
): Promise<void> {
  const { spaceId = null, details = {} } = call.act ?? {};
  const act: Act = {
    keyId: call.caller.keyId,
    keyName: call.caller.name,
    action: audit as string,
    spaceId: spaceId ?? (await call.spaceOfJob) ?? null,
    jobId: call.jobId || null,
    address: addressOf(req).slice(0, ADDRESS_LENGTH),
    requestId: requestIdOfResponse(res),
    details,
  };
  log.info(act, 'act done');
  try {
    await appendAct(call.store, act);
  } catch (err) {
    log.warn({ err, requestId: act.requestId, action: act.action }, 'act not added to the audit');
  }
}
