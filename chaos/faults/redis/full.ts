import type { Status, TerminalStatus } from '@yardmaster/protocol';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import { until } from '../../../test/support/until.js';
import type { Call, Operation } from '../../checker/history.js';
import type { Installation } from '../../installation/installation.js';
import { BODIES } from '../../load/bodies.js';
import { bringJob, nextNumber } from '../../load/own-jobs.js';
import type { Fault, FaultContext, Run } from '../../runs/fault.js';
import { callsDuring, lateTimeouts, timeoutsIn } from '../../runs/measures.js';
import { drained } from '../../runs/run-faults.js';

// Jobs that start before a fault and must end during it.

/** The status of a job before the fault, later calls of its worker or an operator, and how it ends. */
interface Row {
  isAt: Extract<Status, 'pending' | 'delivered' | 'running'>;
  maxRetries: number;
  does: readonly Operation[];
  ends: TerminalStatus;
}

const REPORTS: readonly Operation[] = ['logs', 'progress', 'checkpoint', 'event'];

const ROWS: readonly Row[] = [
  { isAt: 'running', maxRetries: 0, does: ['keepalive', ...REPORTS, 'complete'], ends: 'completed' },
  { isAt: 'running', maxRetries: 0, does: ['fail'], ends: 'dead' },
  { isAt: 'running', maxRetries: 1, does: ['fail', 'claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'running', maxRetries: 1, does: ['kill'], ends: 'killed' },
  { isAt: 'delivered', maxRetries: 0, does: ['ack', 'complete'], ends: 'completed' },
  { isAt: 'delivered', maxRetries: 0, does: ['kill'], ends: 'killed' },
  { isAt: 'pending', maxRetries: 0, does: ['claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'pending', maxRetries: 0, does: ['kill'], ends: 'killed' },
  // The workers of these jobs send nothing until a timeout.
  { isAt: 'running', maxRetries: 0, does: [], ends: 'dead' },
  { isAt: 'running', maxRetries: 1, does: ['claim', 'ack', 'complete'], ends: 'completed' },
  { isAt: 'delivered', maxRetries: 0, does: ['claim', 'ack', 'complete'], ends: 'completed' },
];

const STEPS: Record<Row['isAt'], Operation[]> = { pending: [], delivered: ['claim'], running: ['claim', 'ack'] };

interface UnfinishedJob {
  jobId: string;
  row: Row;
  from: number; // Start time. If the machine stalls later, the window may close.
}

const FINISHER = 'finisher';
const WINDOW_SECONDS = 4;
const BACK_MS = 60_000; // Maximum time for a window to close on a slow machine.

/** Start one job per row. */
const beginWork = (context: FaultContext): Promise<UnfinishedJob[]> =>
  Promise.all(
    ROWS.map(async (row) => {
      const fields = { maxRetries: row.maxRetries, timeoutSeconds: WINDOW_SECONDS, receiving: 'responds' } as const;
      const steps = STEPS[row.isAt].map((op) => [op] as const);
      return {
        row,
        from: Date.now(),
        jobId: await bringJob(context, { client: FINISHER, spaceId: 'unfinished', ...fields }, ...steps),
      };
    }),
  );

/** Make the remaining calls for a job. */
async function finishWork({ call, found }: FaultContext, { jobId, row, from }: UnfinishedJob): Promise<void> {
  for (const op of row.does) {
    if (op === 'claim') {
      // The job may not be pending yet.
      await until(async () => (await call({ client: FINISHER, op, jobId })).body?.claimed === true, BACK_MS);
      continue;
    }
    const sent = BODIES[op]?.(`${op} of ${jobId}`);
    const { outcome, status, code, line } = await call({ client: FINISHER, op, jobId, sent });
    // Reports may be refused now; the worker continues without them.
    const during = { from, until: Date.now() };
    if (outcome !== 'ok' && !REPORTS.includes(op))
      found(`${op} returned ${status} ${code}`, { jobId, lines: [line], during });
  }
}

/** Report jobs that have not ended as expected. */
async function checkFinished({ installation: { store }, found }: FaultContext, all: readonly UnfinishedJob[]) {
  for (const { jobId, row, from } of all) {
    const { status } = await getJob(store, ANY_SPACE, jobId);
    const during = { from, until: Date.now() };
    if (status !== row.ends) found(`was ${row.isAt} and is ${status} instead of ${row.ends}`, { jobId, during });
  }
}

const JOBS_PER_ROW = 3;
const FILLER = 'x'.repeat(16_384);
const ROOM_BYTES = 1_000_000;
const DRAIN_MS = 180_000;
const CLIENT = 'filler';

/** Calls that a full Redis may refuse; all others must work. */
const MAY_BE_REFUSED: readonly Operation[] = ['create', 'logs', 'progress', 'checkpoint', 'event'];

const setMax = ({ connection }: Installation, bytes: number) =>
  connection.config('SET', 'maxmemory', Math.floor(bytes));

const used = async ({ connection }: Installation) =>
  Number(/^used_memory:(\d+)/m.exec(await connection.info('memory'))?.[1]);

/** Create jobs until no memory is left. @returns these jobs */
async function fill({ installation, call }: FaultContext): Promise<string[]> {
  await setMax(installation, (await used(installation)) + ROOM_BYTES);
  for (const jobIds: string[] = []; ; ) {
    const sent = { name: 'filler', payload: { n: nextNumber(), FILLER } };
    const { jobId, code } = await call({ client: CLIENT, op: 'create', spaceId: 'full', sent });
    if (code === 'STORAGE_FULL') return jobIds;
    if (jobId !== null) jobIds.push(jobId);
  }
}

/** Start work, and fill Redis immediately, because the windows last only seconds. */
async function beginAndFill(context: FaultContext): Promise<UnfinishedJob[]> {
  await setMax(context.installation, 0);
  const unfinished = await Promise.all(Array.from({ length: JOBS_PER_ROW }, () => beginWork(context)));
  // Use half of the used memory, so that jobs that end in the meantime do not free enough.
  await setMax(context.installation, (await used(context.installation)) / 2);
  return unfinished.flat();
}

/** Check whether a refused call took effect. */
function isThere({ op, sent, jobId }: Call, { dump: { jobs }, history }: Run): boolean {
  if (op === 'create') {
    // A retry with the same key may have been served once there was room.
    const same = history.ofKind('call').filter((call) => call.op === op && call.sent?.payload?.n === sent.payload.n);
    return (
      same.every(({ code }) => code === 'STORAGE_FULL') && jobs.some(({ payload }) => payload?.n === sent.payload.n)
    );
  }
  const text = op === 'logs' ? sent[0] : (sent.token ?? sent.message);
  return JSON.stringify(jobs.find(({ id }) => id === jobId) ?? null).includes(JSON.stringify(text));
}

let fullSince = 0; // Epoch milliseconds. A process makes one run.

export const faults: Fault[] = [
  {
    name: 'F15',
    title: 'Redis has no memory left',
    promises: ['P11', 'P4', 'P6'],
    stops: ['room'],
    lastsMs: 0,
    async inject(context) {
      const { installation, found, call } = context;
      const fillers = await fill(context);
      const unfinished = await beginAndFill(context);
      fullSince = Date.now();
      return async () => {
        await Promise.all(unfinished.map((one) => finishWork(context, one)));
        // Kill must also work.
        for (const jobId of fillers) await call({ client: CLIENT, op: 'kill', jobId, sent: { reason: jobId } });
        if (!(await drained(installation, DRAIN_MS))) found('not all work was done while Redis was full');
        await checkFinished(context, unfinished);
        await setMax(installation, 0);
      };
    },
    expect(run) {
      const refused = callsDuring(run).filter(({ code }) => code === 'STORAGE_FULL');
      const timeouts = timeoutsIn(run).filter(({ at }) => at >= fullSince && at <= run.outage.until);
      run.figures['calls refused'] = refused.length;
      run.figures['timed out while full'] = timeouts.length;
      const isRight = ({ op }: Call) => MAY_BE_REFUSED.includes(op);
      const wrong = refused.filter((call) => !isRight(call));
      const done = refused.filter((call) => isRight(call) && isThere(call, run));
      const never = ['create', 'logs', 'progress'].filter((op) => !refused.some((call) => call.op === op));
      return [
        ...never.map((op) => ({ says: `no ${op} was refused, so Redis was never full` })),
        ...wrong.map(({ op, jobId, line }) => ({ jobId, says: `${op} was refused`, lines: [line] })),
        ...done.map(({ op, jobId, line }) => ({ jobId, says: `${op} was refused, but happened`, lines: [line] })),
        ...lateTimeouts(run, { timeouts }),
      ];
    },
  },
];
