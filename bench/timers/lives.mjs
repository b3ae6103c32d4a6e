// Jobs whose workers fall silent, and when each of their timers was due.
import { setTimeout as delay } from 'node:timers/promises';
import { redisNow } from '@yardmaster/store';
import { call, mustCall } from './calls.mjs';

const KINDS = ['progress', 'checkpoint', 'event', 'keepalive'];
const BODIES = { progress: { percent: 1, message: 'alive' }, checkpoint: { at: 1 }, event: 'alive' };

/** How long jobs may be kept alive, so that a run ends. */
const LONGEST_LIFE_MS = 15_000;

const between = (least, most) => least + Math.random() * (most - least);

/** What becomes of each job, in random order; `group` is what it is counted under, `windowMs` what its timer is set to. */
export function planLives({ jobs, deliveries, deliveryMs, spaces }) {
  const attempts = Array.from({ length: jobs }, (_, n) => ({
    group: n % 3 === 0 ? 'kept alive' : 'silent',
    windowMs: Math.ceil(between(1_000, 20_000)),
    maxRetries: n % 2 === 0 ? 0 : 3,
    ends: n % 2 === 0 ? 'dead' : 'retried',
  }));
  const others = Array.from({ length: deliveries }, () => ({
    group: 'not acked',
    windowMs: deliveryMs,
    maxRetries: 0,
    ends: 'delivery_timeout',
  }));
  const lives = [...attempts, ...others].map((life) => ({ life, at: Math.random() })).sort((a, b) => a.at - b.at);
  return lives.map(({ life }, n) => ({ ...life, n, spaceId: `late-${n % spaces}` }));
}

/** Create the job of a life, and bring it to where its worker falls silent or begins to keep it alive. */
export async function begin(api, life) {
  const request = { name: 'bench', timeoutSeconds: life.windowMs / 1000, maxRetries: life.maxRetries };
  const job = await mustCall(api, 'POST', `/spaces/${life.spaceId}/jobs`, request);
  await mustCall(api, 'POST', `/jobs/${job.id}/claim`);
  if (life.group !== 'not acked') await mustCall(api, 'POST', `/jobs/${job.id}/ack`);
  return { ...life, id: job.id };
}

/**
 * Send signs of life for a random while, of each kind in turn.
 *
 * @returns the life, with `keptAlive` when its last sign of life was a keepalive, which leaves no trace: Redis' time
 *   before and after that
 */
export async function keepAlive(api, store, life) {
  const { windowMs } = life;
  const lifeMs = between(0, Math.min(2 * windowMs, LONGEST_LIFE_MS));
  const everyMs = windowMs * between(0.2, 0.7);
  let keptAlive = null;
  for (let beat = 0; beat === 0 || beat * everyMs < lifeMs; beat++) {
    await delay(everyMs);
    const kind = KINDS[(life.n + beat) % KINDS.length];
    const before = await redisNow(store);
    const { status, body } = await call(api, 'POST', `/jobs/${life.id}/${kind}`, BODIES[kind]);
    // On a busy machine it may come too late. The window is then the one before.
    if (body.error?.code === 'JOB_NOT_RUNNING') break;
    if (status !== 200) throw new Error(`${kind}: ${status} ${JSON.stringify(body)}`);
    keptAlive = kind === 'keepalive' ? { before, after: await redisNow(store) } : null;
  }
  return { ...life, keptAlive };
}

/** Events that start a window or start it again. */
const OPENING = ['delivered', 'acked', ...KINDS];
const ENDING = ['retried', 'dead', 'delivery_timeout'];

/**
 * When the timer of a life was due, what the history says came of it, and how late, in milliseconds of Redis' clock.
 *
 * @returns `verdict`: `met`, `early`, `missing`, `repeated` or `wrong` (another end than this life must have)
 */
export async function judge(api, life) {
  const { events } = await mustCall(api, 'GET', `/jobs/${life.id}`);
  const endings = events.filter(({ type }) => ENDING.includes(type));
  if (endings.length === 0) return { ...life, verdict: 'missing' };
  if (endings.length > 1) return { ...life, verdict: 'repeated' };
  const [{ type, createdAt }] = endings;
  if (type !== life.ends) return { ...life, verdict: 'wrong' };

  const opened = Date.parse(events.findLast((event) => OPENING.includes(event.type)).createdAt);
  const { before, after } = life.keptAlive ?? { before: opened, after: opened };
  const endedAt = Date.parse(createdAt);
  // At the very millisecond would be early too: the opening and the end were both rounded down.
  const verdict = endedAt > before + life.windowMs ? 'met' : 'early';
  return { ...life, verdict, lateMs: endedAt - (after + life.windowMs), unsureMs: after - before };
}
