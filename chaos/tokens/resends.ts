import { setTimeout as delay } from 'node:timers/promises';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import type { Call, Operation } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { scriptHashes } from '../installation/scripts.js';
import { BODIES } from '../load/bodies.js';
import type { Request } from '../load/client.js';
import { SPACES } from '../load/plan.js';
import { outcomesOf } from '../rules/attempts.js';
import { repeat, within } from '../runs/waiting.js';
import { ROWS, type Row } from './safe-calls.js';
import { type Result, runTrial, type Trial } from './trial.js';

// Many clients run whole lives of jobs while the replies of Redis are swallowed: a script runs, its reply does not arrive, and
// the connection is cut. Each call is sent again, with the same token and the same body, until its response is no 5xx.

/** Counts of one row. */
interface Tally {
  calls: number;
  swallowed: number; // Calls whose script had run when a reply was lost: the effect is older than the last request.
  resent: number; // Requests after the first.
  refused: number; // Calls whose last response was a 409, because the job was killed or timed out meanwhile.
  wrong: number;
}

const CLIENTS = 48;
const SERVED = 40; // How many scripts get their replies before one does not, at most.
const OPEN_MS = 15; // How long a connection then stays open without replies, at most.
const WAIT_MS = 1_000; // For the next script.
const SLOW_MS = 25; // Until a call is sent again, at most.
const GRACE_MS = 60_000; // For the last calls, when the time is over.

/** Swallow replies until each call was hit often enough. @returns the exit code */
export async function run(args: string[]): Promise<number> {
  const tallies = new Map<Operation, Tally>();
  for (const op of Object.keys(ROWS) as Operation[])
    tallies.set(op, { calls: 0, swallowed: 0, resent: 0, refused: 0, wrong: 0 });
  return runTrial(args, {
    option: 'calls',
    byDefault: 10_000,
    env: { DELIVERY_TIMEOUT_SECONDS: '5' }, // Jobs whose poll was cut return soon, and no worker loses its job.
    act: (trial) => swallow(trial, tallies),
    report: ({ wanted }) => resultOf(tallies, shareOf(wanted, tallies)),
  });
}

/** Return how many replies to each call must be swallowed. */
const shareOf = (wanted: number, { size }: ReadonlyMap<Operation, Tally>) => Math.ceil(wanted / size);

function resultOf(tallies: ReadonlyMap<Operation, Tally>, share: number): Result {
  const rows = [...tallies].map(([op, tally]) => [op, ...Object.values(tally)]);
  const head = ['call', 'calls', 'replies swallowed', 'requests sent again', 'killed or timed out first', 'wrong'];
  const faults = [...tallies].flatMap(([op, { swallowed, wrong }]) => [
    ...(wrong > 0 ? [`${wrong} calls of ${op} had another effect or another response`] : []),
    ...(swallowed < share ? [`only ${swallowed} replies to ${op} were swallowed`] : []),
  ]);
  return { rows: [head, ...rows], faults };
}

async function swallow(trial: Trial, tallies: ReadonlyMap<Operation, Tally>): Promise<void> {
  const share = shareOf(trial.wanted, tallies);
  const { installation, random, isLate, root } = trial;
  const hashes = scriptHashes(root);
  const missing = () => [...tallies].filter(([, { swallowed }]) => swallowed < share).map(([op]) => op);
  let isOver = false;
  const swallowSome = async ({ proxy }: AppProcess) => {
    if (isOver) return;
    const wanted = missing().map((op) => hashes.get(op));
    let left = random.below(SERVED); // Without these, the same calls would lose all of their replies.
    const isNext = ([, sha1]: string[]) => wanted.includes(sha1) && left-- === 0;
    const lost = proxy.intercept(isNext, { action: 'lose reply', end: 'silence' });
    await within(WAIT_MS, lost.happened);
    lost.cancel();
    await delay(random.below(OPEN_MS)); // More scripts run meanwhile, and their replies are lost too.
    proxy.resetLost();
    if (missing().length === 0 || isLate()) isOver = true;
  };
  const ends = installation.apis.map((api) => repeat(random.below(OPEN_MS), () => swallowSome(api)));
  const isDone = () => isOver;
  const lives = Array.from({ length: CLIENTS }, (_, i) => live(`client-${i}`, trial, { tallies, missing, isDone }));
  await Promise.all(lives).finally(() => Promise.all(ends.map((end) => end())));
}

/** What the clients share. */
interface Shared {
  tallies: ReadonlyMap<Operation, Tally>;
  missing(): Operation[]; // Calls of which more replies must be swallowed.
  isDone(): boolean;
}

/** Work on jobs, one after the other, and create them. */
async function live(client: string, trial: Trial, shared: Shared): Promise<void> {
  const { call, random, text } = trial;
  const again = (request: Omit<Request, 'client'>) => insist({ ...request, client }, trial, shared);
  while (!shared.isDone()) {
    const spaceId = random.of(SPACES);
    const polled = await call({ client, op: 'poll', spaceId });
    const [job] = polled.outcome === 'ok' ? polled.body.jobs : [];
    if (job !== undefined) {
      const { id: jobId, deliveryToken } = job;
      const of = (op: Operation) =>
        again({ op, jobId, token: op === 'kill' ? null : deliveryToken, sent: BODIES[op]?.(text()) });
      const isUnacked = random.chance(0.1);
      const started = await of(isUnacked ? 'release' : 'ack');
      if (!isUnacked && started.outcome === 'ok') await of(nextEnd(trial, shared));
    } else if (polled.outcome === 'ok') {
      const sent = { name: 'work', payload: { n: text() }, maxRetries: random.below(3), timeoutSeconds: 10 };
      await again({ op: 'create', spaceId, sent });
    }
  }
}

function nextEnd({ random }: Trial, { missing }: Shared): Operation {
  const ends = missing().filter((op) => op !== 'ack' && op !== 'create');
  return ends.length === 0 ? 'complete' : random.of(ends);
}

/** Make a call, and send the same request again after each 5xx. @returns the call with the last response */
async function insist(request: Request, trial: Trial, { tallies }: Shared): Promise<Call> {
  const { call, random, text, isLate } = trial;
  const row = ROWS[request.op];
  const same = { ...request, idempotencyKey: request.op === 'create' ? text() : null };
  let resent = 0;
  let made = await call(same);
  const isServed = () => made.outcome === 'ok' || made.outcome === 'refused';
  for (; !isServed() && !isLate(GRACE_MS); resent++) {
    await delay(random.below(SLOW_MS));
    made = await call(same);
  }
  const tally = tallies.get(request.op);
  if (row !== undefined && tally !== undefined) await count(tally, row, made, resent, trial);
  return made;
}

/** Compare a call with the history of its job: it has one effect and a 2xx response, unless the job has changed since. */
async function count(tally: Tally, { effects }: Row, last: Call, resent: number, { installation }: Trial) {
  tally.calls++;
  tally.resent += resent;
  if (resent === 0) return; // The rules check it.
  const job = await getJob(installation.store, ANY_SPACE, last.jobId as string);
  const times = effects(job, last).map(({ createdAt }) => Date.parse(createdAt));
  const possible = last.op === 'create' ? new Set<string>() : outcomesOf(job, last); // No state refuses a create.
  if (times.some((at) => at < last.sentAt)) tally.swallowed++;
  if (times.length > 1) tally.wrong++;
  else if (last.outcome !== 'ok') tally[possible.has(last.code ?? '') ? 'refused' : 'wrong']++;
  else if (times.length === 0 && !possible.has('unchanged')) tally.wrong++;
}
