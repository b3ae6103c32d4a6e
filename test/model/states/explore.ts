import { isTerminal } from '@yardmaster/protocol';
import { changesNothing, type WorkerCall } from '../tokens.js';
import { Refusal } from '../world.js';
import {
  type Call,
  initialState,
  isTimer,
  isWorkerVerb,
  type Life,
  MAX_DELIVERIES,
  MAX_RETRIES,
  RULES,
  type Rules,
  type State,
  type Step,
  stepsFrom,
  tokenIn,
} from './machine.js';

/** How far to explore. Calls that lead beyond are checked, but not what follows them. */
export interface Bounds {
  jobs: number;
  /** Creates that make a job. */
  creates: number;
  /** Returns of each job. */
  returns: number;
}

/** One job, which is created again after its removal; and the same with fewer states. */
export const ONE: Bounds = { jobs: 1, creates: 2, returns: 2 };
export const SMALL: Bounds = { ...ONE, returns: 1 };
/** Two jobs with one unique key. */
export const TWO: Bounds = { jobs: 2, creates: 2, returns: 1 };
/** Rules for two jobs, without late calls, which have nothing to do with unique keys. */
export const NONE_LATE: Rules = { ...RULES, known: { ofJob: 1, ofRemoved: 0 } };

/** A state that was found, and a shortest path to it. */
interface Found {
  state: State;
  from: Found | null;
  by: Step | null;
}

const pathTo = ({ from, by }: Found): Step[] => (from === null ? [] : [...pathTo(from), by as Step]);

/** Write the calls of a path, one a line. */
export const textOf = (path: readonly Step[]) => path.map(({ call }) => JSON.stringify(call)).join('\n');

/**
 * Explore every state that can be reached, breadth-first.
 *
 * @returns how to reach each state
 * @throws Error with a shortest path that breaks a promise
 */
export function explore(
  { jobs, creates, returns }: Bounds,
  rules: Rules = RULES,
  promises = Object.keys(PROMISES) as PromiseName[],
): Map<string, Found> {
  const found = new Map<string, Found>();
  function reach(state: State, from: Found | null, by: Step | null): void {
    const key = JSON.stringify(state);
    const isWithin = state.creates <= creates && state.jobs.every((life) => (life?.returns ?? 0) <= returns);
    if (isWithin && !found.has(key)) found.set(key, { state, from, by });
  }
  reach(initialState(jobs), null, null);
  // The loop also visits what is added while it runs.
  for (const at of found.values()) {
    const steps = stepsFrom(at.state, rules);
    for (const step of steps) {
      const broken = promises.find((name) => !PROMISES[name](at.state, step, steps));
      if (broken !== undefined) throw new Error(`${broken}, but not after\n${textOf([...pathTo(at), step])}`);
      if (step.after !== at.state) reach(step.after, at, step);
    }
  }
  return found;
}

/**
 * Return tours through all states, each from where nothing exists: together they take each step, and make in each state the
 * calls that change nothing. Timers that do not act are left out, as time may let another one act; so is a purge where there
 * are other jobs, which would be purged as well.
 */
function* toursOf(found: ReturnType<typeof explore>): Generator<Step[]> {
  const left = new Map<string, Step[]>();
  for (const [key, { state }] of found) {
    const steps = stepsFrom(state, RULES).filter(({ call: { verb, isDelayed }, after }) =>
      after === state ? !isTimer(verb) && !isDelayed : verb !== 'purge' || state.jobs.length === 1,
    );
    left.set(key, [...steps.filter(({ after }) => after === state), ...steps.filter(({ after }) => after !== state)]);
  }
  for (const [key, at] of found) {
    while (left.get(key)?.length) {
      const tour = pathTo(at);
      for (let here = key; ; here = JSON.stringify(tour.at(-1)?.after)) {
        const step = left.get(here)?.shift();
        if (step === undefined) break;
        tour.push(step);
      }
      yield tour;
    }
  }
}

/** Return all tours of one job and of two, or every third of one job and every hundredth of two, which take some 10 s. */
export function toursToTake(isAll: boolean): Step[][] {
  const ofOne = [...toursOf(explore(isAll ? ONE : SMALL))];
  const ofTwo = [...toursOf(explore(TWO, NONE_LATE))];
  return isAll
    ? [...ofOne, ...ofTwo]
    : [...ofOne.filter((_, n) => n % 3 === 0), ...ofTwo.filter((_, n) => n % 100 === 0)];
}

const isOpen = (life: Life | null | undefined): life is Life => life != null && !isTerminal(life.status);
const isHeld = (life: Life | null | undefined) => life?.status === 'delivered' || life?.status === 'running';

/** Whether at most the newest delivery of a job is not over, and that one exactly while a worker has the job. */
function hasOneWorker(life: Life): boolean {
  const [newest, ...others] = life.deliveries.toReversed();
  if (others.some(({ isGivenUp }) => !isGivenUp)) return false;
  return isTerminal(life.status) || isHeld(life) === (newest?.isGivenUp === false);
}

type Holds = (before: State, step: Step, all: readonly Step[]) => boolean;

const ofEachJob =
  (holds: (life: Life) => boolean): Holds =>
  (_, { after }) =>
    after.jobs.every((life) => life === null || holds(life));

/** What must hold for each step, among all those of its state. */
export const PROMISES = {
  'only the worker that has a job changes it': (before, { call, after }) =>
    !isWorkerVerb(call.verb) || after === before || (call.age === 0 && isHeld(before.jobs[call.job])),
  'a token gets the reply of the specification': (before, { call, reply }) =>
    [null, reply].includes(specifiedReply(before, call)),
  'a job has at most one worker': ofEachJob(hasOneWorker),
  'a job has at most maxRetries + 1 attempts': ofEachJob(({ attempt }) => attempt <= MAX_RETRIES + 1),
  'a job whose deliveries all time out is dead': ofEachJob(
    ({ status, timeouts }) => timeouts < MAX_DELIVERIES || isTerminal(status),
  ),
  'an open job is never lost': (before, { after }) =>
    before.jobs.every((life, job) => !isOpen(life) || after.jobs[job]?.order === life.order),
  'a result stays as long as its job': (before, { call: { verb }, after }) =>
    verb === 'delete' ||
    verb === 'purge' ||
    before.jobs.every((life, job) => life?.status !== 'completed' || after.jobs[job] === life),
  'an acknowledged create has a job': (_, { call, after }) =>
    call.verb !== 'create' || after.jobs[call.job] !== null || after.jobs.some(isOpen),
  'an acknowledged complete has a result': (_, { call, reply, after }) =>
    call.verb !== 'complete' ||
    !(reply === 'OK' || reply === 'UNCHANGED') ||
    (call.age === 0 && after.jobs[call.job]?.status === 'completed'),
  'only one open job has a unique key': (_, { after }) =>
    after.jobs.every((life, job) => !isOpen(life) || job === after.holder),
  'a timer or a claim moves each job on': (before, { call: { job, verb } }, all) =>
    verb !== 'create' || // Once for each job is enough.
    before.jobs[job] === null ||
    all.some(
      ({ call, after }) => call.job === job && after !== before && (isTimer(call.verb) || call.verb === 'claim'),
    ),
} satisfies Record<string, Holds>;

export type PromiseName = keyof typeof PROMISES;

const SPECIFIED: Record<string, WorkerCall> = {
  ack: 'ack',
  keepalive: 'heartbeat',
  complete: 'complete',
  fail: 'give up',
  release: 'give up',
};

/** Return the reply to a worker's token by the list of deliveries; null where the token decides nothing. */
function specifiedReply(state: State, call: Call): string | null {
  const life = state.jobs[call.job];
  if (!life || !isWorkerVerb(call.verb)) return null;
  try {
    return changesNothing(life, SPECIFIED[call.verb] as WorkerCall, tokenIn(state, call)) ? 'UNCHANGED' : null;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
