import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/support/random.js';
import type { Call, Operation } from '../checker/history.js';
import type { Caller } from './client.js';
import { BODIES } from './own-jobs.js';
import { type JobPlan, LAST_LIFE, type Life, NAMES, SPACES } from './plan.js';

/** A claimed job, as far as its worker needs it. */
interface Claimed {
  id: string;
  timeoutSeconds: number;
  payload: { n: number };
}

/** What all workers of a load share. */
export interface Crew {
  call: Caller;
  random: Random;
  planOf(n: number): JobPlan;
  claimed: Map<number, number>; // How often each job was claimed, by n.
  token(): string; // A text that no other call sends, by which its effect is found again.
  isOver(): boolean;
}

/** Poll some space, and work on the jobs that come, until the load is over. */
export async function runWorker(client: string, crew: Crew): Promise<void> {
  const { call, random, isOver } = crew;
  while (!isOver()) {
    const filter = random.chance(0.3) ? { types: [random.of(NAMES), random.of(NAMES)] } : {};
    const sent = { count: 1 + random.below(3), ...filter };
    const polled = await call({ client, op: 'poll', spaceId: random.of(SPACES), sent });
    const jobs: Claimed[] = polled.outcome === 'ok' ? polled.body.jobs : [];
    await Promise.all(jobs.map((job) => work(client, job, crew)));
    if (jobs.length === 0) await delay(40 + random.below(80));
  }
}

/** Claim one job by its id, and work on it if that succeeded. */
export async function claimAndWork(client: string, jobId: string, crew: Crew): Promise<void> {
  const claimed = await crew.call({ client, op: 'claim', jobId });
  if (claimed.outcome === 'ok' && claimed.body.claimed) await work(client, claimed.body.job, crew);
}

type Report = (op: Operation, sent?: unknown) => Promise<Call>;

async function work(client: string, job: Claimed, crew: Crew): Promise<void> {
  const { random } = crew;
  const { n } = job.payload;
  const times = crew.claimed.get(n) ?? 0;
  crew.claimed.set(n, times + 1);
  const life = crew.planOf(n).lives[times] ?? LAST_LIFE;
  const report: Report = (op, sent) => crew.call({ client, op, jobId: job.id, sent });

  if (life.end === 'never acks') return;
  await delay(random.below(30));
  if (!(await started(report))) return;
  for (const step of life.steps) {
    await delay(5 + random.below(60));
    const reported = await report(step, BODIES[step]?.(crew.token()));
    if (reported.outcome === 'refused') return; // It was killed, or another worker has it.
  }
  if (life.end === 'vanishes') return;
  if (life.end === 'stalls') await delay(job.timeoutSeconds * 1_000 + 200 + random.below(2_000));
  await end(life, report, crew);
}

/** Ack, and again if it was not served: then the job may be running already. */
async function started(report: Report): Promise<boolean> {
  const acked = await report('ack');
  if (acked.outcome === 'ok' || acked.outcome === 'refused') return acked.outcome === 'ok';
  const again = await report('ack');
  return again.outcome === 'ok' || again.body?.jobStatus === 'running';
}

async function end({ end: how }: Life, report: Report, { token }: Crew): Promise<void> {
  const once = () =>
    how.startsWith('fails') ? report('fail', BODIES.fail?.(token())) : report('complete', BODIES.complete?.(token()));
  const ended = await once();
  if (how.endsWith('twice') || ended.outcome === 'unknown' || ended.outcome === 'not now') await once();
}
