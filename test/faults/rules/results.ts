import { isDeepStrictEqual } from 'node:util';
import { ruleForEachJob, type StoredCase } from './rule.js';

/** A job is what its callers were told that it is: as created, completed with that result, killed (P3). */
export const results = ruleForEachJob('results', 'P3', ({ job, calls }) =>
  calls
    .filter(({ outcome }) => outcome === 'ok')
    .flatMap((call) =>
      (TOLD[call.op]?.(call, job) ?? []).map((says) => ({ damage: 'lost' as const, says, lines: [call.line] })),
    ),
);

type Look = (call: StoredCase['calls'][number], job: StoredCase['job']) => string[];

const AS_CREATED = ['name', 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'createdAt'] as const;

const TOLD: Partial<Record<StoredCase['calls'][number]['op'], Look>> = {
  create: ({ body }, job) =>
    AS_CREATED.filter((field) => !isDeepStrictEqual(body[field], job[field])).map(
      (field) => `its ${field} is not what the creation was answered`,
    ),
  complete: ({ sent }, job) => {
    if (job.status !== 'completed') return [`it was completed, and is ${job.status}`];
    return isDeepStrictEqual(job.result, sent?.result ?? null) ? [] : ['it was completed with another result'];
  },
  kill: (_, job) => (job.status === 'killed' ? [] : [`it was killed, and is ${job.status}`]),
};
