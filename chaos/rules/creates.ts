import { isDeepStrictEqual } from 'node:util';
import { type Evidence, type Finding, linesOf, type Rule } from './rule.js';

/** No create with a 2xx response is lost, its job is as in the response, and each job has a create (P1). */
export const creates: Rule = {
  name: 'creates',
  promise: 'P1',
  check: (evidence) => [...lost(evidence), ...changed(evidence), ...unasked(evidence)],
};

const AS_CREATED = ['name', 'payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl', 'createdAt'] as const;

const changed = ({ cases }: Evidence): Finding[] =>
  cases.flatMap(({ jobId, job, calls }) => {
    const create = calls.find(({ op, outcome }) => op === 'create' && outcome === 'ok');
    if (job === null || create === undefined) return [];
    const fields = AS_CREATED.filter((field) => !isDeepStrictEqual(create.body[field], job[field]));
    if (fields.length === 0) return [];
    return [{ jobId, damage: 'lost', says: `its ${fields} differs from the response to create`, lines: [create.line] }];
  });

function lost({ cases }: Evidence): Finding[] {
  return cases.flatMap(({ jobId, job, calls }): Finding[] => {
    const succeeded = calls.find(({ outcome }) => outcome === 'ok');
    if (job !== null || succeeded === undefined) return [];
    const says = `its ${succeeded.op} returned 2xx, but the job is not stored`;
    return [{ jobId, damage: 'lost', says, lines: linesOf(calls) }];
  });
}

/** Report jobs without a create. The number in the payload identifies the create, which makes one job at most. */
function unasked({ cases, calls }: Evidence): Finding[] {
  const found: Finding[] = [];
  for (const { jobId, job, calls: own } of cases) {
    if (job === null || own.some(({ op, outcome }) => op === 'create' && outcome === 'ok')) continue;
    const n = job.payload?.n;
    const asked = calls.filter(({ op, sent }) => op === 'create' && sent?.payload?.n === n);
    const made = cases.filter((other) => other.job?.payload?.n === n);
    const lines = linesOf(asked);
    if (!asked.some(({ outcome }) => outcome === 'unknown'))
      found.push({ jobId, says: 'no client asked for it', lines });
    else if (made.length > asked.length)
      found.push({ jobId, damage: 'duplicated', says: `${asked.length} creates made ${made.length} jobs`, lines });
  }
  return found;
}
