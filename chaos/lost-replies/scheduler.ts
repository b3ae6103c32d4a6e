import { ANY_SPACE, getJob, type Store } from '@yardmaster/store';
import type { Intercepted } from '../../test/support/redis/proxy.js';
import { until } from '../../test/support/until.js';
import type { Body, Operation } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { type Matcher, runs, sends } from '../installation/scripts.js';
import { BODIES } from '../load/bodies.js';
import { bringJob, separateSpaces } from '../load/own-jobs.js';
import { SPACES } from '../load/plan.js';
import type { Finding } from '../rules/rule.js';
import type { FaultContext, Run } from '../runs/fault.js';
import { count, interceptionOf, type Loss } from './trial.js';

/** The calls for the job of a row, and their effects, each of which must occur once. */
interface Scenario {
  calls: readonly Operation[]; // Calls for the job. Afterwards, only schedulers change it.
  body?: Body; // Body of the last call. Default: as in the load.
  maxRetries?: number; // Default 0.
  history: string; // Events of the job. A job that returns to the queue is killed.
  callbacks?: number; // Number of callback attempts; the receiver refuses all but the last. Default 0.
}

const DELIVERED: Scenario = { calls: ['claim'], maxRetries: 1, history: 'created delivered delivery_timeout killed' };
const SILENT: Scenario = { calls: ['claim', 'ack'], maxRetries: 1, history: 'created delivered acked retried killed' };
const LAST: Scenario = { calls: ['claim', 'ack'], history: 'created delivered acked dead callback_sent', callbacks: 1 };
const WAITING: Scenario = {
  calls: ['reschedule'],
  body: { delaySeconds: 1 },
  history: 'created rescheduled ready killed',
};
const DONE = 'created delivered acked completed callback_sent';
const ENDED: Scenario = { calls: ['claim', 'ack', 'complete'], history: DONE, callbacks: 1 };
const ENDED_TWICE: Scenario = { ...ENDED, history: `${DONE} callback_sent`, callbacks: 2 };
const ENDED_THRICE: Scenario = { ...ENDED, history: `${DONE} callback_sent callback_sent`, callbacks: 3 };

/** A script or a command whose reply a scheduler loses, with a title for its job. `match` finds the command for that job. */
type LostSchedulerReply = readonly [
  title: string,
  runs: string,
  scenario: Scenario,
  match: (jobId: string, store: Store) => Matcher,
];

const deadlinesOf = (id: string, { keys }: Store) => keys.deadlines(id.slice(0, 2));
const pendingOf = (id: string, { keys }: Store) => keys.callbacks(id.slice(0, 2));
const expires: LostSchedulerReply[3] = (id, store) => runs('expire', deadlinesOf(id, store));
const retryOf = (id: string) => (words: string[]) => words.some((word) => word.includes(`${id}-0`));

const FIRST: readonly LostSchedulerReply[] = [
  ['expire.delivered', 'expire', DELIVERED, expires],
  ['expire.retried', 'expire', SILENT, expires],
  ['expire.dead', 'expire', LAST, expires],
  ['look.time', 'time', SILENT, () => sends('time')],
  ['look.due', 'zrange', SILENT, (id, store) => sends('zrange', deadlinesOf(id, store))],
  ['callback.relay', 'relay_callbacks', ENDED, (id, store) => runs('relay_callbacks', pendingOf(id, store))],
];

/**
 * Most of these follow other replies on their connection, so they must not be lost at the same time. Promotions are lost
 * separately, because each silent loss takes a scheduler seconds.
 */
const LATER: readonly LostSchedulerReply[] = [
  ['promote', 'promote', WAITING, (id, store) => runs('promote', store.keys.due(id.slice(0, 2)))],
  ['callback.begin', 'begin_callback', ENDED, (id) => runs('begin_callback', id)],
  ['callback.record', 'record_callback', ENDED, (id) => runs('record_callback', id)],
  ['callback.record.again', 'record_callback', ENDED_TWICE, (id) => runs('record_callback', id)],
  // A callback that must be retried has a BullMQ job. The first BullMQ script that names the job adds it. Of the scripts
  // that end an attempt, the one with the argument `returnvalue` removes the job, and the other moves it.
  ['retry.added', 'bullmq', ENDED_TWICE, retryOf],
  [
    'retry.moved',
    'bullmq',
    ENDED_THRICE,
    (id) => (words) => words.includes(`${id}-0`) && !words.includes('returnvalue'),
  ],
  ['retry.done', 'bullmq', ENDED_TWICE, (id) => (words) => words.includes('returnvalue') && retryOf(id)(words)],
];

/** Every script and every command that a scheduler needs. */
export const LOST_SCHEDULER_REPLIES: readonly LostSchedulerReply[] = [...FIRST, ...LATER];

/** Commands of a scheduler's scrape. */
export const LOST_SCRAPES = ['zcard', 'zrevrange', 'hmget'] as const;

const CLIENT = 'loser';
const WAIT_MS = 60_000; // Maximum time for a window, a sweep, or the detection of a dead connection on a slow machine.

/** Prepare one job per row that only a scheduler can continue, and lose the reply to the scheduler that does. */
export async function loseSchedulerReplies(context: FaultContext, loss: Loss): Promise<void> {
  const spaces = separateSpaces(LOST_SCHEDULER_REPLIES.length);
  const { schedulers } = context.installation;
  for (const rows of [FIRST, ...LATER.map((row) => [row])]) {
    await Promise.all(rows.map((row) => loseSchedulerReply(context, row, spaces.pop() as string, loss)));
    await until(() => schedulers.every(({ proxy }) => proxy.lost === 0), WAIT_MS);
  }
}

async function loseSchedulerReply(
  context: FaultContext,
  [title, , scenario, match]: LostSchedulerReply,
  spaceId: string,
  loss: Loss,
) {
  const { call, installation, found } = context;
  const { calls: does, history: leaves, maxRetries = 0, callbacks: posts = 0, body } = scenario;
  const receiving = ([undefined, 'responds', 'fails first', 'fails twice'] as const)[posts];
  const timeoutSeconds = does.includes('complete') ? 120 : 1;
  const own = { client: CLIENT, spaceId, name: title, maxRetries, timeoutSeconds, receiving };
  const jobId = await bringJob(context, own);
  const matches = match(jobId, installation.store);
  const traps = installation.schedulers.map(({ proxy }) => proxy.intercept(matches, interceptionOf(loss)));
  cancelOnceLost(context, traps);
  for (const op of does) await call({ client: CLIENT, op, jobId, sent: body ?? BODIES[op]?.(title) });
  const isLost = () => traps.some(({ at }) => at !== null);
  await until(isLost, WAIT_MS).catch(() => found(`${title}: no reply was lost`, { jobId }));
  if (!leaves.includes('killed')) return;
  const isPending = async () => (await getJob(installation.store, ANY_SPACE, jobId)).status === 'pending';
  await until(isPending, WAIT_MS).catch(() => undefined); // The rules report a failure.
  await call({ client: CLIENT, op: 'kill', jobId, sent: BODIES.kill?.(title) });
}

/** Cancel the other traps once one reply is lost, so that another scheduler can continue. */
function cancelOnceLost(context: FaultContext, traps: readonly Intercepted[]): void {
  void Promise.race(traps.map(({ happened }) => happened)).then(() => {
    count(context, 'replies lost');
    for (const { cancel } of traps) cancel();
  });
}

/** Lose the replies to a scrape: it must show no backlog, and the next one must show it. */
export async function loseScrapes(context: FaultContext, loss: 'cut' | 'silence'): Promise<void> {
  const [{ url, proxy }] = context.installation.schedulers as [AppProcess];
  const isUp = async () => (await (await fetch(`${url}/metrics`)).text()).includes('\nyardmaster_backlog_up 1\n');
  for (const command of LOST_SCRAPES) {
    await until(isUp, WAIT_MS);
    const lost = proxy.intercept(sends(command), { action: 'lose reply', end: loss });
    // A scrape is cached for a while.
    const isDown = until(async () => !(await isUp()), WAIT_MS);
    await isDown.catch(() => context.found(`${command} of a scrape: it showed a backlog without the reply`));
    if (lost.at === null) context.found(`${command} of a scrape: no reply was lost`);
    else count(context, 'replies lost');
    lost.cancel();
    await until(isUp, WAIT_MS);
  }
}

/** Report rows whose history or whose callbacks are wrong. */
export const effectsNotOnce = ({ dump, history }: Run): Finding[] =>
  LOST_SCHEDULER_REPLIES.flatMap(([title, , { history: leaves, callbacks: posts = 0 }]) => {
    const job = dump.jobs.find(({ name, spaceId }) => name === title && !SPACES.includes(spaceId));
    const left = job?.events.map(({ type }) => type).join(' ');
    const received = history.ofKind('callback').filter(({ jobId }) => jobId === job?.id).length;
    if (left === leaves && received === posts) return [];
    return [{ jobId: job?.id ?? null, says: `${title}: left ${left}, and ${received} callbacks were received` }];
  });
