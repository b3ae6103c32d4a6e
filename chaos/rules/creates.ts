import { isDeepStrictEqual } from 'node:util';
import { type Evidence, type Finding, linesOf, type Rule } from './rule.js';

/** No create with a 2xx response is lost, the job is as it says, and there is no job that nobody asked for (P1). */
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
    const answered = calls.find(({ outcome }) => outcome === 'ok');
    if (job !== null || answered === undefined) return [];
    const says = `its ${answered.op} was answered 2xx, and it is not there`;
    return [{ jobId, damage: 'lost', says, lines: linesOf(calls) }];
  });
}

/** The number in the payload tells which create made a job: one create makes one job, or perhaps one if its outcome is unknown. */
function unasked({ cases, calls }: Evidence): Finding[] {
  const found: Finding[] = [];
  for (const { jobId, job, calls: own } of cases) {
    if (job === null || own.some(({ op, outcome }) => op === 'create' && outcome === 'ok')) continue;
    const n = job.payload?.n;
    const asked = calls.filter(({ op, sent }) => op === 'create' && sent?.payload?.n === n);
    const made = cases.filter((other) => other.job?.payload?.n === n);
    const lines = linesOf(asked);
    if (!asked.some(({ outcome }) => outcome === 'unknown')) found.push({ jobId, says: 'nobody asked for it', lines });
    else if (made.length > asked.length)
      found.push({ jobId, damage: 'duplicated', says: `${asked.length} creates made ${made.length} jobs`, lines });
  }
  return found;
}
