import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../logs/random.js';
import type { Caller } from '../client.js';
import type { Call, Operation } from '../history.js';
import { type JobPlan, LAST_LIFE, type Life, NAMES, SPACES, type Step } from './plan.js';

/** What a worker is given by poll and claim, as far as it cares. */
interface Claimed {
  id: string;
  attemptNumber: number;
  timeoutSeconds: number;
  payload: { n: number };
}

/** What all workers of a load share. */
export interface Crew {
  call: Caller;
  random: Random;
  planOf(n: number): JobPlan;
  /** How often each job was handed out, by n. */
  handedOut: Map<number, number>;
  /** A text that no other call sends, by which its effect is found again. */
  token(): string;
  isOver(): boolean;
}

const LOG_LINES = 3;

const BODIES: Record<Step, (token: string) => unknown> = {
  progress: (token) => ({ percent: 50, message: token }),
  checkpoint: (token) => ({ token }),
  event: (token) => ({ token }),
  keepalive: () => undefined,
  logs: (token) => Array.from({ length: LOG_LINES }, (_, i) => `${token} ${i + 1}/${LOG_LINES}`),
};

/** Poll here and there, and lead what is handed out, until the load is over. */
export async function runWorker(client: string, crew: Crew): Promise<void> {
  const { call, random, isOver } = crew;
  while (!isOver()) {
    const filter = random.chance(0.3) ? { types: [random.of(NAMES), random.of(NAMES)] } : {};
    const sent = { count: 1 + random.below(3), ...filter };
    const polled = await call({ client, op: 'poll', spaceId: random.of(SPACES), sent });
    const jobs: Claimed[] = polled.outcome === 'ok' ? polled.body.jobs : [];
    await Promise.all(jobs.map((job) => lead(client, job, crew)));
    if (jobs.length === 0) await delay(40 + random.below(80));
  }
}

/** Claim one job by its id, and lead it when it was ours to have. */
export async function claimAndLead(client: string, jobId: string, crew: Crew): Promise<void> {
  const claimed = await crew.call({ client, op: 'claim', jobId });
  if (claimed.outcome === 'ok' && claimed.body.claimed) await lead(client, claimed.body.job, crew);
}

async function lead(client: string, job: Claimed, crew: Crew): Promise<void> {
  const { random } = crew;
  const { n } = job.payload;
  const times = crew.handedOut.get(n) ?? 0;
  crew.handedOut.set(n, times + 1);
  const life = crew.planOf(n).lives[times] ?? LAST_LIFE;
  const report = (op: Operation, sent?: unknown) =>
    crew.call({ client, op, jobId: job.id, attempt: job.attemptNumber, sent });

  if (life.end === 'never acks') return;
  await delay(random.below(30));
  if (!(await started(report))) return;
  for (const step of life.steps) {
    await delay(5 + random.below(60));
    const reported = await report(step, BODIES[step](crew.token()));
    if (reported.outcome === 'refused') return; // It was killed, or is another's by now.
  }
  if (life.end === 'vanishes') return;
  if (life.end === 'stalls') await delay(job.timeoutSeconds * 1_000 + 200 + random.below(2_000));
  await end(life, report, crew);
}

/** Ack, once more when nobody knows whether that was done: then it may be answered that the job is running already. */
async function started(report: (op: Operation) => Promise<Call>): Promise<boolean> {
  const acked = await report('ack');
  if (acked.outcome !== 'unknown') return acked.outcome === 'ok';
  const again = await report('ack');
  return again.outcome === 'ok' || again.body?.jobStatus === 'running';
}

async function end(
  { end: how }: Life,
  report: (op: Operation, sent?: unknown) => Promise<Call>,
  { token }: Crew,
): Promise<void> {
  const once = () =>
    how.startsWith('fails') ? report('fail', { error: token() }) : report('complete', { result: { token: token() } });
  const ended = await once();
  // Whoever does not know whether it was done says so again.
  if (how.endsWith('twice') || ended.outcome === 'unknown') await once();
}
