import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@yardmaster/protocol';
import type { DumpedJob } from '../dump.js';
import { type HandOut, ruleForEachJob } from './rule.js';

const AS_CREATED = ['name', 'payload', 'maxRetries', 'timeoutSeconds', 'createdAt'] as const;

/**
 * What a worker is handed is a job that it asked for, as it was created, with the latest checkpoint of the attempts before
 * (P3): a checkpoint that was answered 2xx, and that no retry hears of, is as good as lost.
 */
export const handed = ruleForEachJob('handed', 'P3', ({ job, handOuts }) => {
  const checkpoints = checkpointsByAttempt(job);
  return handOuts.flatMap((handOut) =>
    faultsOf(handOut, job, checkpoints).map((says) => ({ damage: 'lost' as const, says, lines: [handOut.call.line] })),
  );
});

function faultsOf(
  { attempt, job: told, call }: HandOut,
  job: DumpedJob,
  checkpoints: Map<number, JsonValue>,
): string[] {
  const names: string[] | undefined = call.sent?.types;
  return [
    ...(call.spaceId === null || call.spaceId === job.spaceId ? [] : [`it was handed out in ${call.spaceId}`]),
    ...(names === undefined || names.includes(job.name) ? [] : [`it was handed to somebody who asked for ${names}`]),
    ...AS_CREATED.filter((field) => !isDeepStrictEqual(told[field], job[field])).map(
      (field) => `it was handed out with another ${field}`,
    ),
    ...(isDeepStrictEqual(told.checkpoint, checkpoints.get(attempt) ?? null)
      ? []
      : [`attempt ${attempt} was handed out with another checkpoint than the latest`]),
  ];
}

/** The latest checkpoint as it was when a job was delivered after so many acks: none is taken before the next ack. */
function checkpointsByAttempt({ events }: DumpedJob): Map<number, JsonValue> {
  const checkpoints = new Map<number, JsonValue>();
  let attempt = 0;
  let latest: JsonValue = null;
  for (const { type, data } of events) {
    if (type === 'acked') attempt++;
    if (type === 'checkpoint') latest = data;
    if (type === 'delivered') checkpoints.set(attempt, latest);
  }
  return checkpoints;
}
