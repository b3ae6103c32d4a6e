import type { Status } from '@yardmaster/protocol';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import { until } from '../../support/until.js';
import type { Ground } from '../fault.js';
import type { Operation } from '../history.js';

// Jobs that are brought so far while all is well, and must come to their end while something is not.

/** How far one is brought, what its worker or an operator then does, and what becomes of it. */
interface Row {
  isAt: Extract<Status, 'pending' | 'delivered' | 'running'>;
  maxRetries: number;
  does: readonly Operation[];
  ends: Extract<Status, 'completed' | 'dead' | 'killed'>;
}

const ROWS: readonly Row[] = [
  {
    isAt: 'running',
    maxRetries: 0,
    does: ['keepalive', 'logs', 'progress', 'checkpoint', 'event', 'complete'],
    ends: 'completed',
  },
  { isAt: 'running', maxRetries: 0, does: ['fail'], ends: 'dead' },
  { isAt: 'running', maxRetries: 1, does: ['fail', 'claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'running', maxRetries: 1, does: ['kill'], ends: 'killed' },
  { isAt: 'delivered', maxRetries: 0, does: ['ack', 'complete'], ends: 'completed' },
  { isAt: 'delivered', maxRetries: 0, does: ['kill'], ends: 'killed' },
  { isAt: 'pending', maxRetries: 0, does: ['claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'pending', maxRetries: 0, does: ['kill'], ends: 'killed' },
  // From here on nobody does anything, until a scheduler does.
  { isAt: 'running', maxRetries: 0, does: [], ends: 'dead' },
  { isAt: 'running', maxRetries: 1, does: ['claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'delivered', maxRetries: 0, does: ['claim', 'ack', 'complete'], ends: 'completed' },
];

/** One of them. */
export interface Unfinished {
  jobId: string;
  row: Row;
  /** `attemptNumber` that it was handed out with. */
  attempt: number;
}

const SPACE = 'unfinished';
const CLIENT = 'finisher';

const WINDOW_SECONDS = 4;

/** A window and what a time-out may be late, with room. */
const BACK_MS = 15_000;

const SENT: Partial<Record<Operation, (token: string) => unknown>> = {
  logs: (token) => [token],
  progress: (token) => ({ percent: 50, message: token }),
  checkpoint: (token) => ({ token }),
  event: (token) => ({ token }),
  complete: (token) => ({ result: { token } }),
  fail: (token) => ({ error: token }),
  kill: (token) => ({ reason: token }),
};

const BROUGHT: Record<Row['isAt'], readonly Operation[]> = {
  pending: [],
  delivered: ['claim'],
  running: ['claim', 'ack'],
};

/** What may not be kept now: whoever reports it goes on without. */
const REPORTS: readonly Operation[] = ['logs', 'progress', 'checkpoint', 'event'];

/** Bring one job of each row as far as it says. @param from numbers of jobs that no others have */
export async function begin(ground: Ground, from: number): Promise<Unfinished[]> {
  return Promise.all(
    ROWS.map(async (row, i) => {
      const n = from + i;
      const sent = {
        name: 'work',
        payload: { n },
        maxRetries: row.maxRetries,
        timeoutSeconds: WINDOW_SECONDS,
        callbackUrl: ground.load.callbackUrl(n),
      };
      const { jobId } = await ground.call({ client: CLIENT, op: 'create', spaceId: SPACE, sent });
      const one = { jobId: jobId as string, row, attempt: 0 };
      for (const op of BROUGHT[row.isAt]) await act(ground, one, op);
      return one;
    }),
  );
}

/** Do what is to be done for it. */
export async function goOn(ground: Ground, one: Unfinished): Promise<void> {
  for (const op of one.row.does) await act(ground, one, op);
}

/** Tell which of them have not come to their end. */
export async function judge({ installation: { store }, found }: Ground, all: readonly Unfinished[]): Promise<void> {
  for (const { jobId, row } of all) {
    const { status } = await getJob(store, ANY_SPACE, jobId);
    if (status !== row.ends) found({ jobId, says: `was ${row.isAt} and is ${status}, which was to be ${row.ends}` });
  }
}

async function act(ground: Ground, one: Unfinished, op: Operation): Promise<void> {
  const { jobId, attempt } = one;
  if (op === 'claim') return claim(ground, one);
  const sent = SENT[op]?.(`${op} of ${jobId}`);
  const { outcome, status, code, line } = await ground.call({ client: CLIENT, op, jobId, attempt, sent });
  if (outcome !== 'ok' && !REPORTS.includes(op))
    ground.found({ jobId, says: `${op} was answered ${status} ${code}`, lines: [line] });
}

/** Once it is pending, which may be to come. */
async function claim({ call }: Ground, one: Unfinished): Promise<void> {
  await until(async () => {
    const { outcome, body } = await call({ client: CLIENT, op: 'claim', jobId: one.jobId });
    if (outcome !== 'ok' || !body.claimed) return false;
    one.attempt = body.job.attemptNumber;
    return true;
  }, BACK_MS);
}
