import {
  ERRORS,
  type ErrorCode,
  isJobId,
  type Outcome,
  type PollRequest,
  type Settled,
  type Status,
  YardmasterError,
} from '@yardmaster/protocol';
import { partitionOf, partitionOfJob } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { turn, turn_many } from '../../script/scripts.generated.js';
import { notAfterOf, type Store } from '../../store.js';
import { argsOf, reportEffect, SCRIPT_OF } from '../attempt/outcomes.js';
import { type ClaimedValue, claimedJobsOf } from '../read/record.js';
import { storedTokenOf } from '../read/state.js';
import { type ClaimOptions, claimArgs, type Polled, reportClaimed } from './claim.js';

/** What a worker wants in one call: outcomes to settle, and then jobs to claim. */
export interface TurnRequest {
  settle: readonly Outcome[];
  /** Jobs to claim; null for none. */
  poll: (Pick<PollRequest, 'count' | 'names'> & ClaimOptions) | null;
  /** Return why the caller must not do this action; null if it may. */
  refusalOf: (outcome: Outcome) => YardmasterError | null;
}

/** A poll of a call that only settles. */
const NOTHING: ClaimOptions & Pick<PollRequest, 'count' | 'names'> = { count: 0, names: [] };

/** From so many jobs on, one script that writes sorted sets together costs less, see turn_many.lua. */
const MANY = 5;

/**
 * Settle jobs of a space, in order, and then claim pending ones, all in one step. An outcome that is refused does not
 * affect the others.
 *
 * @throws UNAVAILABLE, after which any of it may be done; OVERLOADED, STORAGE_FULL when nothing was done
 * @see docs/api.md#settle
 */
export async function takeTurn(
  store: Store,
  spaceId: string,
  { settle, poll, refusalOf }: TurnRequest,
): Promise<Polled & { settled: Settled[] }> {
  const refused = settle.map((outcome) => refusalOf(outcome) ?? refusalOfId(outcome, spaceId));
  const sent = settle.filter((_, i) => refused[i] === null);
  if (sent.length === 0 && poll === null) {
    return { jobs: [], isMore: false, settled: settle.map((it, i) => unsettled(it, refused[i])) };
  }

  const { outcome: word, values } = await sendTurn(store, spaceId, sent, poll);
  const replies = values.slice(0, sent.length);
  let next = 0;
  const settled = settle.map((outcome, i) => {
    const refusal = refused[i];
    return refusal ? unsettled(outcome, refusal) : settledOf(store, outcome, replies[next++]);
  });
  const claimed = values.slice(sent.length) as ClaimedValue[];
  if (poll !== null) reportClaimed(store, { spaceId, poll, values: claimed });
  return { jobs: claimedJobsOf(claimed), isMore: word === 'MORE', settled };
}

/** Send the script of a call. @returns as `values` the reply to each outcome, and then the values of the claimed jobs */
async function sendTurn(
  store: Store,
  spaceId: string,
  outcomes: readonly Outcome[],
  poll: TurnRequest['poll'],
): Promise<{ outcome: 'OK' | 'MORE'; values: readonly unknown[] }> {
  const { eventsPerJob, retentionMs } = store.settings;
  const { names, count } = poll ?? NOTHING;
  const actions = new Set<string>();
  const rest: (string | number)[] = [...names];
  for (const outcome of outcomes) {
    const { name } = SCRIPT_OF[outcome.action];
    const [a = '', b = '', c = ''] = argsOf(outcome);
    actions.add(name);
    rest.push(outcome.jobId, storedTokenOf(outcome.deliveryToken), name, a, b, c);
  }
  return runScript(store, outcomes.length + count < MANY ? turn : turn_many, {
    keys: { queue: store.keys.queue(spaceId) },
    args: {
      base: store.keys.baseOfSpace(spaceId),
      space: spaceId,
      actions: [...actions].join(' '),
      count,
      ...claimArgs(store, poll ?? NOTHING),
      eventsPerJob,
      retentionMs,
      random: actions.has('fail') ? store.random() : '',
      notAfter: poll === null ? '' : notAfterOf(store),
      nameCount: names.length,
    },
    rest,
  });
}

const otherSpace = () => new YardmasterError('FORBIDDEN', 'Job is in another space than the one in the path');

/** Refuse an id without reading the job: one that cannot be an id, or that is of another partition. */
function refusalOfId({ jobId }: Outcome, spaceId: string): YardmasterError | null {
  if (!isJobId(jobId)) return new YardmasterError('JOB_NOT_FOUND');
  return partitionOfJob(jobId) === partitionOf(spaceId) ? null : otherSpace();
}

const unsettled = ({ jobId }: Outcome, refusal: YardmasterError | null | undefined): Settled => {
  const { code, message, extras } = refusal as YardmasterError;
  return { jobId, success: false, error: message, code, ...extras } as Settled;
};

/** Number of the values after OK in the reply of each script. Only the last, a name, may contain blanks. */
const VALUES = { ack: 1, heartbeat: 1, complete: 4, fail: 5, release: 5 } as const;

/** Read the text of a reply that begins with OK. */
function valuesOf(text: string, count: number): string[] {
  const values = ['OK'];
  let from = 0;
  while (values.length < count) {
    const end = text.indexOf(' ', from);
    values.push(text.slice(from, end));
    from = end + 1;
  }
  values.push(text.slice(from));
  return values;
}

/** Read the reply to one outcome: the text of one that took effect, or the reply of the script of its action. */
function settledOf(store: Store, outcome: Outcome, reply: unknown): Settled {
  const { name } = SCRIPT_OF[outcome.action];
  const values = typeof reply === 'string' ? valuesOf(reply, VALUES[name as keyof typeof VALUES]) : (reply as string[]);
  const [word, status, hint] = values as [string, ...(string | undefined)[]];
  if (word === 'FORBIDDEN') return unsettled(outcome, otherSpace());
  if (word in ERRORS) {
    if (word === 'STORAGE_FULL') store.observer.failed('full');
    if (word === 'UNAVAILABLE') store.observer.failed('other'); // a record that is not valid
    const extras = { ...(status && { jobStatus: status as Status }), ...(hint && { hint }) };
    return unsettled(outcome, new YardmasterError(word as ErrorCode, undefined, extras));
  }
  reportEffect(store, outcome, outcome.action, SCRIPT_OF[outcome.action].decode(values));
  return { jobId: outcome.jobId, success: true };
}
