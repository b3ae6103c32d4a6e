import { isDeepStrictEqual } from 'node:util';
import { type Call, type Evidence, type Finding, groupsOf, linesOf, type Rule } from './rule.js';

/**
 * No create with a 2xx response is lost, its job matches the response, and each job has a create (P1). Creates with the same
 * idempotency key make a single job.
 */
export const creates: Rule = {
  name: 'creates',
  promise: 'P1',
  check: (evidence) => [...lost(evidence), ...changed(evidence), ...unasked(evidence), ...repeated(evidence)],
};

const KEPT = ['name', 'createdAt'] as const;
const REPLACED = ['payload', 'maxRetries', 'timeoutSeconds', 'callbackUrl'] as const; // By a create with a unique key.

/** Check whether a create made the job in its response: with 200, another create has made it. */
const isCreation = ({ op, outcome, status }: Call) => op === 'create' && outcome === 'ok' && status === 201;

const changed = ({ cases }: Evidence): Finding[] =>
  cases.flatMap(({ jobId, job, calls }) => {
    const create = calls.find(isCreation);
    if (job === null || create === undefined) return [];
    const isReplaced = job.events.some(({ type }) => type === 'replaced');
    const fields = (isReplaced ? KEPT : [...KEPT, ...REPLACED]).filter(
      (field) => !isDeepStrictEqual(create.body[field], job[field]),
    );
    if (fields.length === 0) return [];
    return [{ jobId, damage: 'lost', says: `its ${fields} differs from the response to create`, lines: [create.line] }];
  });

function lost({ cases }: Evidence): Finding[] {
  return cases.flatMap(({ jobId, job, calls }): Finding[] => {
    const succeeded = calls.find(({ outcome }) => outcome === 'ok');
    const mayBeDeleted = calls.some(({ op, outcome }) => op === 'delete' && outcome !== 'refused');
    if (job !== null || succeeded === undefined || mayBeDeleted) return [];
    const says = `its ${succeeded.op} returned 2xx, but the job is not stored`;
    return [{ jobId, damage: 'lost', says, lines: linesOf(calls) }];
  });
}

/** Report jobs without a create. The number in the payload identifies the creates of a job; each makes at most one. */
function unasked({ cases, calls }: Evidence): Finding[] {
  const found: Finding[] = [];
  for (const { jobId, job, calls: own } of cases) {
    if (job === null || own.some(({ op, outcome }) => op === 'create' && outcome === 'ok')) continue;
    if (job.copyOf !== undefined) {
      found.push(...tooManyCopies(job.copyOf, { cases, calls }));
      continue;
    }
    const n = job.payload?.n;
    const asked = calls.filter(({ op, sent }) => op === 'create' && sent?.payload?.n === n);
    const made = cases.filter((other) => other.job?.payload?.n === n);
    const lines = linesOf(asked);
    if (!asked.some(({ outcome }) => outcome === 'unknown'))
      found.push({ jobId, says: 'no client asked for it', lines });
    else if (made.length > mostOf(asked))
      found.push({ jobId, damage: 'duplicated', says: `${asked.length} creates made ${made.length} jobs`, lines });
  }
  return found;
}

/** Report a job with more copies than calls may have made. */
function tooManyCopies(of: string, { cases, calls }: Pick<Evidence, 'cases' | 'calls'>): Finding[] {
  const asked = calls.filter(({ op, jobId, outcome }) => op === 'copy' && jobId === of && outcome !== 'refused');
  const made = cases.filter(({ job }) => job?.copyOf === of);
  if (made.length <= asked.length) return [];
  const says = `${asked.length} calls made ${made.length} copies`;
  return [{ jobId: of, damage: 'duplicated', says, lines: linesOf(asked) }];
}

/** Return the maximum number of jobs that creates may make: one per idempotency key. A key that made no job is forgotten. */
const mostOf = (creates: readonly Call[]) =>
  new Set(creates.map(({ idempotencyKey, sent, line }) => (sent.unique ? line : (idempotencyKey ?? line)))).size;

/** Report creates with the same idempotency key that made several jobs, or were refused as if their bodies differed. */
function repeated({ calls }: Evidence): Finding[] {
  const keyed = calls.filter(({ idempotencyKey }) => idempotencyKey !== null);
  return groupsOf(keyed, ({ idempotencyKey }) => String(idempotencyKey)).flatMap((same): Finding[] => {
    const [{ jobId = null } = {}, ...others] = same.filter(isCreation);
    const other = others.find((create) => create.jobId !== jobId);
    const refused = same.find(({ code }) => code === 'IDEMPOTENCY_MISMATCH');
    return [
      ...(other === undefined
        ? []
        : [{ jobId, damage: 'duplicated' as const, says: `a retry made ${other.jobId}`, lines: linesOf(same) }]),
      ...(refused === undefined ? [] : [{ jobId, says: 'the same create was refused', lines: linesOf(same) }]),
    ];
  });
}
