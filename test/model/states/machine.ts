import { isTerminal, refusalOf, type Status, TRANSITIONS, type Transition, type Trigger } from '@yardmaster/protocol';
import { isWaiting } from '../keyed.js';
import type { Delivery } from '../world.js';

// A small machine of what decides whose call counts: statuses, counters, delivery tokens, the unique key, and creates that
// are sent again. It has no time and no workers: a timer may act in each status that has one, and a call may come with any
// token that was ever issued, as often as it likes. So it covers any number of workers, and messages that are late,
// repeated or lost. Its fence computes from counters, as lua/attempt does; tokens.ts decides by the list of deliveries.

/** A job from its create to its removal. Creates have idempotency keys, so a later one makes a job with the same id. */
export interface Life {
  status: Status;
  /** Number of the create that made it. */
  order: number;
  attempt: number;
  /** Delivery timeouts, releases and requeues. */
  returns: number;
  /** Delivery timeouts since the last ack. */
  timeouts: number;
  deliveries: readonly Delivery[];
}

export interface State {
  /** By number of the job; null for one that does not exist. All have the same unique key. */
  jobs: readonly (Life | null)[];
  /** The job that the entry of the unique key names. */
  holder: number | null;
  /** Tokens of removed jobs, by number of the job. */
  late: readonly (readonly string[])[];
  /** Creates that made a job. */
  creates: number;
}

const WORKER_VERBS = ['ack', 'keepalive', 'complete', 'fail', 'release'] as const;
const OPERATOR_VERBS = ['create', 'claim', 'kill', 'requeue', 'delete'] as const;
const TIMERS = ['due', 'delivery_timeout', 'execution_timeout', 'purge'] as const;

type WorkerVerb = (typeof WORKER_VERBS)[number];
type Timer = (typeof TIMERS)[number];

export interface Call {
  verb: WorkerVerb | (typeof OPERATOR_VERBS)[number] | Timer;
  job: number;
  /** Whose token a worker sends: 0 for the newest delivery, 1 for the previous one, maybe of a removed job. */
  age?: number;
  /** Whether the job is to wait for a time. */
  isDelayed?: boolean;
}

export const isWorkerVerb = (verb: Call['verb']): verb is WorkerVerb => WORKER_VERBS.includes(verb as WorkerVerb);
export const isTimer = (verb: Call['verb']): verb is Timer => TIMERS.includes(verb as Timer);

/** A call, and what it makes of a state. */
export interface Step {
  call: Call;
  /** The code of a refusal; `UNCHANGED` for a success that has no effect, by the token; else `OK`. */
  reply: string;
  /** The same object as before when nothing changes. */
  after: State;
}

export const MAX_RETRIES = 1;
export const MAX_DELIVERIES = 2;

/** What a deliberate fault may replace. */
export const RULES = {
  transitions: TRANSITIONS,
  /** Conditions of transitions. */
  holds: {
    'retries remain': ({ attempt }, isDelayed) => !isDelayed && attempt <= MAX_RETRIES,
    'retries remain, with a delay': ({ attempt }, isDelayed) => isDelayed && attempt <= MAX_RETRIES,
    'no retries remain': ({ attempt }) => attempt > MAX_RETRIES,
    'deliveries remain': ({ timeouts }) => timeouts + 1 < MAX_DELIVERIES,
    'no deliveries remain': ({ timeouts }) => timeouts + 1 >= MAX_DELIVERIES,
    'no time is left to start': () => false,
    'at once': (_, isDelayed) => !isDelayed,
    'with a delay': (_, isDelayed) => isDelayed,
  } as Record<NonNullable<Transition['when']>, (life: Life, isDelayed: boolean) => boolean>,
  /** What a trigger changes in addition to the status. */
  counters: {
    ack: ({ attempt }) => ({ attempt: attempt + 1, timeouts: 0 }),
    delivery_timeout: ({ returns, timeouts }, to) => ({
      returns: returns + (to === 'dead' ? 0 : 1),
      timeouts: timeouts + 1,
    }),
    release: ({ status, attempt, returns }) => ({
      attempt: attempt - (status === 'running' ? 1 : 0),
      returns: returns + 1,
    }),
    requeue: ({ returns }) => ({ attempt: 0, returns: returns + 1, timeouts: 0 }),
  } as Partial<Record<Trigger, (life: Life, to: Status) => Partial<Life>>>,
  /** Token of the delivery that a claim makes. */
  tokenOf: ({ attempt, returns, order }: Life) => `${attempt}.${returns}.${order}`,
  /** Which delivery a token is; see lua/attempt/delivery.lua. */
  deliveryOf(life: Life, token: string): 'current' | 'over' | 'unknown' {
    const [attempt, returns, order] = token.split('.').map(Number) as [number, number, number];
    if (order !== life.order) return 'unknown';
    const diedAcked = life.status === 'dead' && life.timeouts === 0 && life.attempt > 0;
    const wasAcked = life.status === 'running' || life.status === 'completed' || diedAcked;
    const last = life.attempt - (wasAcked ? 1 : 0);
    if (returns < life.returns) return 'over';
    if (returns > life.returns || attempt > last) return 'unknown';
    if (attempt < last) return 'over';
    return isWaiting(life.status) ? 'unknown' : 'current';
  },
  /** Whether a job is as the call of its current delivery has left it. */
  isDone: (verb: WorkerVerb, status: Status) =>
    (verb === 'ack' && status === 'running') || (verb === 'complete' && status === 'completed'),
  canBeRemoved: (status: Status): boolean => isTerminal(status),
  isReplay: ({ jobs }: State, job: number) => jobs[job] !== null,
  /** Whether another job occupies the unique key. */
  isOccupied: ({ jobs, holder }: State, job: number) =>
    holder !== null && holder !== job && !isTerminal(jobs[holder]?.status ?? 'killed'),
  /** The entry of the unique key, without a job that has ended or is removed. */
  freed: (holder: number | null, job: number) => (holder === job ? null : holder),
  /** The entry of the unique key, after a job was requeued. */
  holderAfterRequeue: (_holder: number | null, job: number): number | null => job,
  /** How many of the newest tokens calls have, those of a job and those of a removed one. */
  known: { ofJob: Number.POSITIVE_INFINITY, ofRemoved: 2 },
};

export type Rules = typeof RULES;

export const initialState = (jobs: number): State => ({
  jobs: Array<null>(jobs).fill(null),
  holder: null,
  late: Array<string[]>(jobs).fill([]),
  creates: 0,
});

/** Return the tokens of all deliveries of a job, in order. */
const tokensOf = ({ jobs, late }: State, job: number): readonly string[] => [
  ...(late[job] as readonly string[]),
  ...(jobs[job]?.deliveries ?? []).map(({ token }) => token),
];

/** Return the token that a worker sends. */
export const tokenIn = (state: State, { job, age }: Call) => tokensOf(state, job).at(-1 - (age as number)) as string;

const CAN_BE_DELAYED: readonly string[] = ['fail', 'release', 'requeue'];

/** List every call that may come in a state, and what it makes of it. */
export function stepsFrom(state: State, rules: Rules): Step[] {
  const calls = state.jobs.flatMap((_, job) => [
    ...tokensOf(state, job).flatMap((_, age) => WORKER_VERBS.map((verb): Call => ({ verb, job, age }))),
    ...[...OPERATOR_VERBS, ...TIMERS].map((verb): Call => ({ verb, job })),
  ]);
  return calls
    .flatMap((call) => (CAN_BE_DELAYED.includes(call.verb) ? [call, { ...call, isDelayed: true }] : [call]))
    .map((call) => ({ call, ...outcomeOf(state, call, rules) }));
}

function outcomeOf(state: State, call: Call, rules: Rules): Omit<Step, 'call'> {
  const { verb, job } = call;
  const unchanged = (reply: string) => ({ reply, after: state });
  const life = state.jobs[job];
  if (verb === 'create') return { reply: 'OK', after: created(state, job, rules) };
  if (!life) return unchanged('JOB_NOT_FOUND');
  if (verb === 'delete' || verb === 'purge') {
    return rules.canBeRemoved(life.status)
      ? { reply: 'OK', after: removed(state, job, rules) }
      : unchanged('JOB_NOT_ENDED');
  }
  const reply = isWorkerVerb(verb) ? replyToToken(life, verb, tokenIn(state, call), rules) : null;
  if (reply !== null) return unchanged(reply);
  const row = rules.transitions.find(
    ({ trigger, from, when }) =>
      trigger === verb && from.includes(life.status) && (!when || rules.holds[when](life, call.isDelayed ?? false)),
  );
  if (!row) return unchanged(refusalOf(verb, life.status) ?? 'OK');
  if (row.event === null) return unchanged('OK');
  if (verb === 'requeue' && rules.isOccupied(state, job)) return unchanged('JOB_NOT_UNIQUE');
  return { reply: 'OK', after: moved(state, job, row, rules) };
}

/** See lua/attempt/token.lua. @returns null for a call that continues as one without a token */
function replyToToken(life: Life, verb: WorkerVerb, token: string, rules: Rules): string | null {
  if (life.status === 'killed') return null;
  const delivery = rules.deliveryOf(life, token);
  if (verb === 'fail' || verb === 'release') {
    if (delivery === 'unknown') return 'DELIVERY_LOST';
    return delivery === 'over' || life.status === 'dead' ? 'UNCHANGED' : null;
  }
  if (isWaiting(life.status)) return null;
  if (delivery !== 'current') return 'DELIVERY_LOST';
  if (rules.isDone(verb, life.status)) return 'UNCHANGED';
  return isTerminal(life.status) ? 'JOB_NOT_RUNNING' : null;
}

const newest = <T>(all: readonly T[], count: number) => all.slice(Math.max(0, all.length - count));

const withJob = ({ jobs }: State, job: number, life: Life | null) => jobs.map((it, n) => (n === job ? life : it));

function created(state: State, job: number, rules: Rules): State {
  if (rules.isReplay(state, job) || rules.isOccupied(state, job)) return state;
  const creates = state.creates + 1;
  const life: Life = { status: 'pending', order: creates, attempt: 0, returns: 0, timeouts: 0, deliveries: [] };
  return { ...state, jobs: withJob(state, job, life), holder: job, creates };
}

const removed = (state: State, job: number, rules: Rules): State => ({
  ...state,
  jobs: withJob(state, job, null),
  holder: rules.freed(state.holder, job),
  late: state.late.map((tokens, n) => (n === job ? newest(tokensOf(state, job), rules.known.ofRemoved) : tokens)),
});

/** Make a transition. The list of deliveries follows the specification; see attempts.ts. */
function moved(state: State, job: number, { trigger, to, event }: Transition, rules: Rules): State {
  const life = state.jobs[job] as Life;
  const after: Life = { ...life, ...rules.counters[trigger]?.(life, to), status: to };
  const isTakenBack = event === 'delivery_timeout' || event === 'released' || event === 'requeued';
  const isGivenUp = isTakenBack || event === 'retried' || event === 'dead';
  const last = life.deliveries.at(-1);
  if (to === 'delivered') {
    const next: Delivery = { token: rules.tokenOf(life), isGivenUp: false };
    after.deliveries = newest([...life.deliveries, next], rules.known.ofJob);
  } else if (isGivenUp && last) {
    after.deliveries = life.deliveries.with(-1, { ...last, isGivenUp, ...(isTakenBack && { isTakenBack }) });
  }
  const holder = isTerminal(to) ? rules.freed(state.holder, job) : state.holder;
  return {
    ...state,
    jobs: withJob(state, job, after),
    holder: trigger === 'requeue' ? rules.holderAfterRequeue(holder, job) : holder,
  };
}
