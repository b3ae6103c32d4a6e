import { type Evidence, type Found, linesOf, type Rule } from './rule.js';

/** No creation that was answered is lost, and no job is there that nobody asked for (P1). */
export const creates: Rule = {
  name: 'creates',
  promise: 'P1',
  check: (evidence) => [...lostOnes(evidence), ...phantoms(evidence)],
};

function lostOnes({ cases }: Evidence): Found[] {
  return cases
    .filter(({ job, calls }) => job === null && calls.some(({ outcome }) => outcome === 'ok'))
    .map(({ jobId, calls }) => ({
      jobId,
      damage: 'lost',
      says: `its ${calls.find(({ outcome }) => outcome === 'ok')?.op} was answered 2xx, and it is not there`,
      lines: linesOf(calls),
    }));
}

/** The number in the payload tells which creation made a job. One creation makes one job, one of unknown outcome perhaps. */
function phantoms({ cases, calls }: Evidence): Found[] {
  const found: Found[] = [];
  for (const { jobId, job, calls: ofJob } of cases) {
    if (job === null || ofJob.some(({ op, outcome }) => op === 'create' && outcome === 'ok')) continue;
    const n = job.payload?.n;
    const asked = calls.filter(({ op, sent }) => op === 'create' && sent?.payload?.n === n);
    const unknown = asked.filter(({ outcome }) => outcome === 'unknown');
    const made = cases.filter((other) => other.job?.payload?.n === n);
    if (unknown.length === 0) found.push({ jobId, says: 'nobody asked for it', lines: linesOf(asked) });
    else if (made.length > asked.length) {
      const says = `${asked.length} creations made ${made.length} jobs`;
      found.push({ jobId, damage: 'duplicated', says, lines: linesOf(asked) });
    }
  }
  return found;
}
