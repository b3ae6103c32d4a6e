import { ANY_SPACE, getJob, type Store } from '@yardmaster/store';
import type { Intercepted } from '../../test/support/redis/proxy.js';
import { until } from '../../test/support/until.js';
import type { Operation } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { type Matcher, runs, sends } from '../installation/scripts.js';
import { BODIES, bringJob, separateSpaces } from '../load/own-jobs.js';
import { SPACES } from '../load/plan.js';
import type { Finding } from '../rules/rule.js';
import type { FaultContext, Run } from '../runs/fault.js';
import { count, interceptionOf, type Loss } from './trial.js';

/** What is done with the job of a row, and what comes of it: each effect once. */
interface Life {
  does: readonly Operation[]; // Calls; then only schedulers go on.
  maxRetries?: number; // Default 0.
  leaves: string; // The events of its history. A job that is pending again is killed.
  posts?: number; // How often its callback is sent, of which the first may be refused. Default 0.
}

const DELIVERED: Life = { does: ['claim'], maxRetries: 1, leaves: 'created delivered delivery_timeout killed' };
const SILENT: Life = { does: ['claim', 'ack'], maxRetries: 1, leaves: 'created delivered acked retried killed' };
const LAST: Life = { does: ['claim', 'ack'], leaves: 'created delivered acked dead callback_sent', posts: 1 };
const DONE = 'created delivered acked completed callback_sent';
const ENDED: Life = { does: ['claim', 'ack', 'complete'], leaves: DONE, posts: 1 };
const ENDED_TWICE: Life = { ...ENDED, leaves: `${DONE} callback_sent`, posts: 2 };

/** A script or a command whose reply a scheduler loses, with a title for its job. @param isIt recognises it for that job */
type LostDuty = readonly [title: string, runs: string, life: Life, isIt: (jobId: string, store: Store) => Matcher];

const deadlinesOf = (id: string, { keys }: Store) => keys.deadlines(id.slice(0, 2));
const pendingOf = (id: string, { keys }: Store) => keys.callbacks(id.slice(0, 2));
const expires: LostDuty[3] = (id, store) => runs('expire', deadlinesOf(id, store));
const wakeupOf = (id: string) => (words: string[]) => words.some((word) => word.includes(`${id}-0`));

const FIRST: readonly LostDuty[] = [
  ['expire.delivered', 'expire', DELIVERED, expires],
  ['expire.retried', 'expire', SILENT, expires],
  ['expire.dead', 'expire', LAST, expires],
  ['look.time', 'time', SILENT, () => sends('time')],
  ['look.due', 'zrange', SILENT, (id, store) => sends('zrange', deadlinesOf(id, store))],
  ['callback.relay', 'relay_callbacks', ENDED, (id, store) => runs('relay_callbacks', pendingOf(id, store))],
];

/** These come only after other replies on their connection, so they must not be lost at the same time. */
const LATER: readonly LostDuty[] = [
  ['callback.begin', 'begin_callback', ENDED, (id) => runs('begin_callback', id)],
  ['callback.record', 'record_callback', ENDED, (id) => runs('record_callback', id)],
  ['callback.record.again', 'record_callback', ENDED_TWICE, (id) => runs('record_callback', id)],
  // A callback has a wake-up once it is to be sent again. The first of BullMQ's scripts that names the wake-up sets it; the
  // one with a value that is returned removes it.
  ['wakeup.set', 'bullmq', ENDED_TWICE, wakeupOf],
  ['wakeup.done', 'bullmq', ENDED_TWICE, (id) => (words) => words.includes('returnvalue') && wakeupOf(id)(words)],
];

/** Every script and every command that a scheduler needs. */
export const LOST_DUTIES: readonly LostDuty[] = [...FIRST, ...LATER];

/** The commands of a scheduler's scrape. */
export const LOST_SCRAPES = ['zcard', 'zrevrange'] as const;

const CLIENT = 'loser';
const WAIT_MS = 60_000; // For a window, a sweep, or a dead connection to be found out, on a slow machine.

/** Bring one job per row to where only a scheduler goes on, and lose the reply to whichever scheduler does. */
export async function loseDuties(context: FaultContext, loss: Loss): Promise<void> {
  const spaces = separateSpaces(LOST_DUTIES.length);
  const { schedulers } = context.installation;
  for (const duties of [FIRST, ...LATER.map((duty) => [duty])]) {
    await Promise.all(duties.map((duty) => loseDuty(context, duty, spaces.pop() as string, loss)));
    await until(() => schedulers.every(({ proxy }) => proxy.lost === 0), WAIT_MS);
  }
}

async function loseDuty(context: FaultContext, [title, , life, isIt]: LostDuty, spaceId: string, loss: Loss) {
  const { call, installation, found } = context;
  const { does, leaves, maxRetries = 0, posts = 0 } = life;
  const receiving = ([undefined, 'answers', 'fails first'] as const)[posts];
  const timeoutSeconds = does.includes('complete') ? 120 : 1;
  const own = { client: CLIENT, spaceId, name: title, maxRetries, timeoutSeconds, receiving };
  const jobId = await bringJob(context, own);
  const matches = isIt(jobId, installation.store);
  const traps = installation.schedulers.map(({ proxy }) => proxy.intercept(matches, interceptionOf(loss)));
  cancelOnceLost(context, traps);
  for (const op of does) await call({ client: CLIENT, op, jobId, sent: BODIES[op]?.(title) });
  const isLost = () => traps.some(({ at }) => at !== null);
  await until(isLost, WAIT_MS).catch(() => found(`${title}: no reply was lost`, { jobId }));
  if (!leaves.includes('killed')) return;
  const isPending = async () => (await getJob(installation.store, ANY_SPACE, jobId)).status === 'pending';
  await until(isPending, WAIT_MS).catch(() => undefined); // The rules report it.
  await call({ client: CLIENT, op: 'kill', jobId, sent: BODIES.kill?.(title) });
}

/** One lost reply is enough: another scheduler goes on, and is heard. */
function cancelOnceLost(context: FaultContext, traps: readonly Intercepted[]): void {
  void Promise.race(traps.map(({ happened }) => happened)).then(() => {
    count(context, 'replies lost');
    for (const { cancel } of traps) cancel();
  });
}

/** Lose the replies to a scrape: it shows no backlog, and the next one does. */
export async function loseScrapes(context: FaultContext, loss: 'cut' | 'silence'): Promise<void> {
  const [{ url, proxy }] = context.installation.schedulers as [AppProcess];
  const isUp = async () => (await (await fetch(`${url}/metrics`)).text()).includes('\nyardmaster_backlog_up 1\n');
  for (const command of LOST_SCRAPES) {
    await until(isUp, WAIT_MS);
    const lost = proxy.intercept(sends(command), { action: 'lose reply', end: loss });
    // What was read just before is cached for a while.
    const isDown = until(async () => !(await isUp()), WAIT_MS);
    await isDown.catch(() => context.found(`${command} of a scrape: it showed what it cannot know`));
    if (lost.at === null) context.found(`${command} of a scrape: no reply was lost`);
    else count(context, 'replies lost');
    lost.cancel();
    await until(isUp, WAIT_MS);
  }
}

/** Report rows whose history or whose callbacks are wrong. */
export const dutiesNotOnce = ({ dump, history }: Run): Finding[] =>
  LOST_DUTIES.flatMap(([title, , { leaves, posts = 0 }]) => {
    const job = dump.jobs.find(({ name, spaceId }) => name === title && !SPACES.includes(spaceId));
    const left = job?.events.map(({ type }) => type).join(' ');
    const came = history.ofKind('callback').filter(({ jobId }) => jobId === job?.id).length;
    if (left === leaves && came === posts) return [];
    return [{ jobId: job?.id ?? null, says: `${title}: left ${left}, and ${came} callbacks came` }];
  });
