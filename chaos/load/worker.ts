import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/support/random.js';
import { type Call, HEARTBEATS, type Operation } from '../checker/history.js';
import { BODIES } from './bodies.js';
import type { Caller } from './client.js';
import { type AttemptPlan, type JobPlan, LAST_ATTEMPT, NAMES, SPACES, type Step } from './plan.js';

/** The fields of a claimed job that its worker needs. */
interface Claimed {
  id: string;
  timeoutSeconds: number;
  deliveryToken: string;
  payload: { n: number };
}

/** Dependencies and state that all workers of a load share. */
export interface WorkerContext {
  call: Caller;
  random: Random;
  planOf(n: number): JobPlan;
  claimed: Map<number, number>; // How often each job was claimed, by n.
  text(): string; // A text that no other call sends, so that its effect can be found.
  isOneRelease: boolean; // Whether every process knows delivery tokens and release.
  isOver(): boolean;
}

/** Poll random spaces, and work on the returned jobs, until the load is over. */
export async function runWorker(client: string, context: WorkerContext): Promise<void> {
  const { call, random, isOver } = context;
  while (!isOver()) {
    const filter = random.chance(0.3) ? { types: [random.of(NAMES), random.of(NAMES)] } : {};
    const sent = { count: 1 + random.below(3), ...filter };
    const polled = await call({ client, op: 'poll', spaceId: random.of(SPACES), sent });
    const jobs: Claimed[] = polled.outcome === 'ok' ? polled.body.jobs : [];
    await Promise.all(jobs.map((job) => work(client, job, context)));
    if (jobs.length === 0) await delay(40 + random.below(80));
  }
}

/** Claim one job by its id, and work on it if that succeeded. */
export async function claimAndWork(client: string, jobId: string, context: WorkerContext): Promise<void> {
  const claimed = await context.call({ client, op: 'claim', jobId });
  if (claimed.outcome === 'ok' && claimed.body.claimed) await work(client, claimed.body.job, context);
}

/** Make a call about the claimed job. */
type Report = (op: Operation, sent?: unknown) => Promise<Call>;

async function work(client: string, job: Claimed, context: WorkerContext): Promise<void> {
  const { random, isOneRelease } = context;
  const { n } = job.payload;
  const times = context.claimed.get(n) ?? 0;
  context.claimed.set(n, times + 1);
  const { attempts, usesToken } = context.planOf(n);
  const attempt = attempts[times] ?? LAST_ATTEMPT;
  const token = usesToken && isOneRelease ? job.deliveryToken : null;
  const report: Report = (op, sent) => context.call({ client, op, jobId: job.id, token, sent });
  const reportStep = (step: Step) => report(step, BODIES[step]?.(context.text()));

  if (attempt.end === 'never acks') return;
  await delay(random.below(30));
  if (attempt.end === 'releases before its ack') return end(attempt, report, context);
  if (!(await started(report, token))) return;
  for (const step of attempt.steps) {
    await delay(5 + random.below(60));
    const reported = await reportStep(step);
    if (reported.outcome === 'refused') return; // It was killed, or another worker has it.
  }
  if (attempt.end === 'vanishes') return;
  if (attempt.end.startsWith('stalls')) {
    await delay(job.timeoutSeconds * 1_000 + 200 + random.below(2_000));
    await reportStep(random.of(HEARTBEATS)); // It does not know yet that it has lost the job.
  }
  await end(attempt, report, context);
}

/** Ack, and ack again if there is no response, because the job may be running. @returns whether this worker has it */
async function started(report: Report, token: string | null): Promise<boolean> {
  const acked = await report('ack');
  if (acked.outcome === 'ok' || acked.outcome === 'refused') return acked.outcome === 'ok';
  const again = await report('ack');
  return again.outcome === 'ok' || (token === null && again.body?.jobStatus === 'running');
}

/** Further fields of the call that ends an attempt. */
const MORE: { [how: string]: object } = {
  'fails for good': { retryable: false },
  'fails until later': { retryAfterSeconds: 0.5 },
  'releases until later': { delaySeconds: 0.5 },
};

async function end({ end: how }: AttemptPlan, report: Report, { text, isOneRelease }: WorkerContext): Promise<void> {
  const isReleased = how.includes('releases') && isOneRelease;
  const op = isReleased ? 'release' : how.includes('fails') ? 'fail' : 'complete';
  const once = () => report(op, { ...BODIES[op]?.(text()), ...(isOneRelease && MORE[how]) });
  const ended = await once();
  if (how.endsWith('twice') || ended.outcome === 'unknown' || ended.outcome === 'not now') await once();
}
