import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../test/support/random.js';
import { type Call, HEARTBEATS, type History, type Operation } from '../checker/history.js';
import { BODIES } from '../load/bodies.js';
import { createClients, type Request, type Service } from '../load/client.js';
import { SPACES } from '../load/plan.js';

/** What a worker process gets from its parent. */
export interface Order extends Service {
  name: string;
  seed: number;
  jobs: number; // How many to work on at once.
  creates: boolean; // Whether to create a job when there is none.
}

interface Worker extends Order {
  random: Random;
  call(request: Omit<Request, 'client'>): Promise<Call>;
  text(): string; // A text that no other call sends.
  isOver(): boolean;
}

const BEATS = 12; // Heartbeats of an attempt, at most.
const BEAT_MS = 300; // Time until the next one, at most.
const TIMEOUT_SECONDS = 1;

/** Work on many jobs at once, and send each call to the parent, until the parent sends another message. */
export async function workAsOrdered(order: Order): Promise<void> {
  const add: History['add'] = (entry) => {
    process.send?.(entry);
    return { line: 0, ...entry };
  };
  const clients = createClients(order, { add });
  let texts = 0;
  let isOver = false;
  void once(process, 'message').then(() => (isOver = true));
  const call: Worker['call'] = (request) => clients.call({ client: order.name, ...request });
  const text = () => `${order.name}-${++texts}`;
  const worker = { ...order, random: new Random(order.seed), call, text, isOver: () => isOver };
  await Promise.all(Array.from({ length: order.jobs }, () => workOnOne(worker)));
  clients.close();
}

/** Work on one job after the other. */
async function workOnOne({ random, call, text, isOver, creates }: Worker): Promise<void> {
  while (!isOver()) {
    const spaceId = random.of(SPACES);
    const polled = await call({ op: 'poll', spaceId });
    const [job] = polled.outcome === 'ok' ? polled.body.jobs : [];
    if (job !== undefined) {
      const of = { jobId: job.id, token: job.deliveryToken };
      await attempt((op) => call({ op, ...of, sent: BODIES[op]?.(text()) }), random, isOver);
    } else if (creates) {
      const sent = { name: 'work', payload: { n: text() }, maxRetries: 3, timeoutSeconds: TIMEOUT_SECONDS };
      await call({ op: 'create', spaceId, sent });
    } else await delay(random.below(BEAT_MS));
  }
}

type Report = (op: Operation) => Promise<Call>;

async function attempt(report: Report, random: Random, isOver: () => boolean): Promise<void> {
  await delay(random.below(BEAT_MS)); // It may be stopped before its ack.
  let reported = await report('ack');
  for (let left = random.below(BEATS); reported.outcome !== 'refused' && left > 0 && !isOver(); left--) {
    await delay(random.below(BEAT_MS));
    reported = await report(random.of(HEARTBEATS));
  }
  if (reported.outcome !== 'refused') reported = await report(random.chance(0.7) ? 'complete' : 'fail');
  if (reported.outcome === 'refused') await goOn(report, random);
}

/** Make every other call as well, as workers do that do not stop at a refusal. */
async function goOn(report: Report, random: Random): Promise<void> {
  const calls: Operation[] = ['ack', ...HEARTBEATS, 'complete'];
  while (calls.length > 0) {
    await delay(random.below(BEAT_MS / 3));
    await report(calls.splice(random.below(calls.length), 1)[0] as Operation);
  }
  for (const op of ['fail', 'release'] as const) await report(op);
}
