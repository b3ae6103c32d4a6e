import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/support/random.js';
import type { Call, Operation } from '../checker/history.js';
import { BODIES } from './bodies.js';
import type { Caller } from './client.js';
import { type AttemptPlan, type JobPlan, LAST_ATTEMPT, NAMES, SPACES } from './plan.js';

/** The fields of a claimed job that its worker needs. */
interface Claimed {
  id: string;
  timeoutSeconds: number;
  payload: { n: number };
}

/** Dependencies and state that all workers of a load share. */
export interface WorkerContext {
  call: Caller;
  random: Random;
  planOf(n: number): JobPlan;
  claimed: Map<number, number>; // How often each job was claimed, by n.
  token(): string; // A text that no other call sends, so that its effect can be found.
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

type Report = (op: Operation, sent?: unknown) => Promise<Call>;

async function work(client: string, job: Claimed, context: WorkerContext): Promise<void> {
  const { random } = context;
  const { n } = job.payload;
  const times = context.claimed.get(n) ?? 0;
  context.claimed.set(n, times + 1);
  const attempt = context.planOf(n).attempts[times] ?? LAST_ATTEMPT;
  const report: Report = (op, sent) => context.call({ client, op, jobId: job.id, sent });

  if (attempt.end === 'never acks') return;
  await delay(random.below(30));
  if (!(await started(report))) return;
  for (const step of attempt.steps) {
    await delay(5 + random.below(60));
    const reported = await report(step, BODIES[step]?.(context.token()));
    if (reported.outcome === 'refused') return; // It was killed, or another worker has it.
  }
  if (attempt.end === 'vanishes') return;
  if (attempt.end === 'stalls') await delay(job.timeoutSeconds * 1_000 + 200 + random.below(2_000));
  await end(attempt, report, context);
}

/** Ack, and ack again if there is no response, because the job may be running. @returns whether it runs */
async function started(report: Report): Promise<boolean> {
  const acked = await report('ack');
  if (acked.outcome === 'ok' || acked.outcome === 'refused') return acked.outcome === 'ok';
  const again = await report('ack');
  return again.outcome === 'ok' || again.body?.jobStatus === 'running';
}

async function end({ end: how }: AttemptPlan, report: Report, { token }: WorkerContext): Promise<void> {
  const once = () =>
    how.startsWith('fails') ? report('fail', BODIES.fail?.(token())) : report('complete', BODIES.complete?.(token()));
  const ended = await once();
  if (how.endsWith('twice') || ended.outcome === 'unknown' || ended.outcome === 'not now') await once();
}
