import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../test/support/random.js';
import { type Call, HEARTBEATS, type Operation } from '../checker/history.js';
import { type Batch, createBatch } from './batch.js';
import { BODIES } from './bodies.js';
import type { Caller, Clients } from './client.js';
import { type AttemptPlan, ENDS, type JobPlan, LAST_ATTEMPT, NAMES, SPACES, type Step } from './plan.js';

/** Fields of a claimed job that its worker needs. */
interface Claimed {
  id: string;
  timeoutSeconds: number;
  deliveryToken: string;
  payload: { n: number };
}

/** Dependencies and state that all workers of a load share. */
export interface WorkerContext {
  clients: Omit<Clients, 'close'>;
  random: Random;
  planOf(n: number): JobPlan;
  claimed: Map<number, number>; // How often each job was claimed, by n.
  text(): string; // Create a text unique to a call, so that its effect can be found.
  isOver(): boolean;
}

/** Poll random spaces, and work on the returned jobs with single calls, until the load ends. */
export async function runWorker(client: string, context: WorkerContext): Promise<void> {
  while (!context.isOver()) {
    const { jobs } = await poll(client, context);
    await Promise.all(jobs.map((job) => work(job, context, context.clients.call, client)));
    if (jobs.length === 0) await pause(context);
  }
}

/** Poll random spaces, and report the outcomes of several jobs with one call. */
export async function runSettlingWorker(client: string, context: WorkerContext): Promise<void> {
  const { clients, isOver } = context;
  while (!isOver()) {
    const { spaceId, jobs } = await poll(client, context);
    const batch = createBatch(spaceId, clients.call);
    let isWorking = true;
    const working = Promise.all(jobs.map((job) => work(job, context, batch.call, client)));
    void working.finally(() => {
      isWorking = false;
    });
    while (isWorking) {
      await delay(20);
      await settle(batch, clients);
    }
    await working;
    if (jobs.length === 0) await pause(context);
  }
}

const MOST_AT_ONCE = 5; // Maximum number of jobs of a worker that sends outcomes with its polls.

/** Work on the jobs of one space, and send the outcomes with the next poll, until the load ends. */
export async function runTurns(client: string, context: WorkerContext): Promise<void> {
  const { clients, random, isOver } = context;
  const spaceId = random.of(SPACES);
  const batch = createBatch(spaceId, clients.call);
  const running = new Set<Promise<void>>();
  while (!isOver() || running.size > 0) {
    if (isOver() || running.size >= MOST_AT_ONCE) await settle(batch, clients);
    else {
      const autoAck = random.chance(0.5);
      const waits = running.size === 0 && random.chance(0.5) && { waitSeconds: 1 };
      const sent = { count: 1 + random.below(3), workerId: client, ...(autoAck && { autoAck }), ...waits };
      const { requests, resolve } = batch.take();
      const { settled, polled } = await clients.turn(requests, { client, op: 'poll', spaceId, sent });
      resolve(settled);
      for (const job of jobsOf(polled)) {
        const one = work(job, context, batch.call, client, autoAck).finally(() => running.delete(one));
        running.add(one);
      }
    }
    await delay(20 + random.below(20));
  }
}

async function settle(batch: Batch, clients: WorkerContext['clients']): Promise<void> {
  const { requests, resolve } = batch.take();
  if (requests.length > 0) resolve(await clients.settle(requests));
}

const pause = ({ random }: WorkerContext) => delay(40 + random.below(80));

const jobsOf = ({ outcome, body }: Call): Claimed[] => (outcome === 'ok' ? body.jobs : []);

async function poll(client: string, { clients, random }: WorkerContext) {
  const filter = random.chance(0.3) ? { types: [random.of(NAMES), random.of(NAMES)] } : {};
  const waits = random.chance(0.3) && { waitSeconds: 1 };
  const sent = { count: 1 + random.below(3), ...filter, ...waits };
  const spaceId = random.of(SPACES);
  return { spaceId, jobs: jobsOf(await clients.call({ client, op: 'poll', spaceId, sent })) };
}

/** Claim one job by its ID, and work on it if that succeeded. */
export async function claimAndWork(client: string, jobId: string, context: WorkerContext): Promise<void> {
  const { call } = context.clients;
  const claimed = await call({ client, op: 'claim', jobId });
  if (claimed.outcome === 'ok' && claimed.body.claimed) await work(claimed.body.job, context, call, client);
}

/** Make a call about the claimed job. */
type Report = (op: Operation, sent?: unknown) => Promise<Call>;

/**
 * Follow the plan of a claimed job.
 *
 * @param call makes calls about the job
 * @param isAcked whether the poll has acked the job
 */
async function work(
  job: Claimed,
  context: WorkerContext,
  call: Caller,
  client: string,
  isAcked = false,
): Promise<void> {
  const { random } = context;
  const { n } = job.payload;
  const times = context.claimed.get(n) ?? 0;
  context.claimed.set(n, times + 1);
  const { attempts, usesToken } = context.planOf(n);
  const attempt = attempts[times] ?? LAST_ATTEMPT;
  const token = usesToken ? job.deliveryToken : null;
  const report: Report = (op, sent) => call({ client, op, jobId: job.id, token, sent });
  const reportStep = (step: Step) => report(step, BODIES[step]?.(context.text()));

  if (attempt.end === 'never acks') return;
  await delay(random.below(30));
  if (ENDS[attempt.end].isBeforeAck) return end(attempt, report, context);
  if (!isAcked && !(await started(report, token))) return;
  for (const step of attempt.steps) {
    await delay(5 + random.below(60));
    const reported = await reportStep(step);
    if (reported.outcome === 'refused') return; // The job was killed, or another worker has it.
  }
  if (attempt.end.startsWith('stalls')) {
    await delay(job.timeoutSeconds * 1_000 + 200 + random.below(2_000));
    await reportStep(random.of(HEARTBEATS)); // The worker does not know yet that it has lost the job.
  }
  await end(attempt, report, context);
}

/** Ack, and retry without a response, because the job may be running. @returns whether this worker holds the job */
async function started(report: Report, token: string | null): Promise<boolean> {
  const acked = await report('ack');
  if (acked.outcome === 'ok' || acked.outcome === 'refused') return acked.outcome === 'ok';
  const again = await report('ack');
  return again.outcome === 'ok' || (token === null && again.body?.jobStatus === 'running');
}

async function end({ end: how }: AttemptPlan, report: Report, { text }: WorkerContext): Promise<void> {
  const { op, more, isTwice } = ENDS[how];
  if (op === undefined) return;
  const once = () => report(op, { ...BODIES[op]?.(text()), ...more });
  const ended = await once();
  if (isTwice || ended.outcome === 'unknown' || ended.outcome === 'not now') await once();
}
