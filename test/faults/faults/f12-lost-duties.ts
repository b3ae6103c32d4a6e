import { isDeepStrictEqual } from 'node:util';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import { until } from '../../support/until.js';
import type { Fault, Ground, Run } from '../fault.js';
import { SPACES } from '../load/plan.js';
import { spacesApart } from '../load/spaces-apart.js';
import { LOST_DUTIES, LOST_SCRAPES, type LostDuty } from '../lost-replies/duties.js';
import { countLost, type Loss } from '../lost-replies/lost-reply.js';
import type { Ambushed } from '../proxy.js';
import type { Found } from '../rules/rule.js';
import { sends } from '../scripts.js';
import { lateTimeOuts } from '../time-outs-met.js';

const CLIENT = 'loser';

let jobs = 2_000_000; // Numbers that no job of the load has.

/** Until a reply is lost for which a window has to be over, and a sweep to come. */
const LOST_MS = 15_000;

/** Until its time-out is met all the same. */
const BACK_MS = 10_000;

/** However many replies are lost, nobody is away: a scheduler is late by what it takes to find out, and no more. */
const LATE_MS = 5_000;

/** Until a connection that is silent is found out. */
const FOUND_OUT_MS = 10_000;

/** Bring one job of each row to where only a scheduler goes on with it, and have its reply lost by whichever that is. */
async function loseAll(ground: Ground, loss: Loss): Promise<void> {
  const spaces = spacesApart(LOST_DUTIES.length);
  const { schedulers } = ground.installation;
  for (const rows of [LOST_DUTIES.filter(({ isLater }) => !isLater), ...LOST_DUTIES.filter(({ isLater }) => isLater)]) {
    await Promise.all([rows].flat().map((row) => lose(ground, row, { spaceId: spaces.pop() as string, loss })));
    await until(() => schedulers.every(({ proxy }) => proxy.lost === 0), FOUND_OUT_MS);
  }
}

interface Where {
  spaceId: string;
  loss: Loss;
}

async function lose(ground: Ground, row: LostDuty, { spaceId, loss }: Where): Promise<void> {
  const { call, load, installation, found } = ground;
  const n = jobs++;
  const callbackUrl =
    row.posts > 0 ? { callbackUrl: load.callbackUrl(n, row.isRefused ? 'fails first' : 'answers') } : {};
  const sent = { name: row.title, payload: { n }, maxRetries: row.maxRetries, timeoutSeconds: 1, ...callbackUrl };
  const { jobId } = (await call({ client: CLIENT, op: 'create', spaceId, sent })) as { jobId: string };
  const isIt = row.isIt(jobId, installation.store);
  const laid = installation.schedulers.map(({ proxy }) => proxy.onNext(isIt, { does: 'swallow reply', end: loss }));
  onceLost(ground, laid);
  for (const op of row.does)
    await call({ client: CLIENT, op, jobId, ...(op === 'complete' && { sent: { result: { token: row.title } } }) });
  await until(() => laid.some(({ at }) => at !== null), LOST_MS).catch(() =>
    found({ jobId, says: `${row.title}: no reply was lost` }),
  );
  if (!row.leaves.includes('killed')) return;
  const status = async () => (await getJob(installation.store, ANY_SPACE, jobId)).status;
  await until(async () => (await status()) === 'pending', BACK_MS).catch(() => undefined); // The rules tell.
  await call({ client: CLIENT, op: 'kill', jobId, sent: { reason: row.title } });
}

/** One is enough: whoever goes on in its place is heard. */
function onceLost(ground: Ground, laid: readonly Ambushed[]): void {
  void Promise.race(laid.map(({ happened }) => happened)).then(() => {
    countLost(ground);
    for (const { disarm } of laid) disarm();
  });
}

/** A scrape whose replies are lost shows nothing of what waits, and the next one does. */
async function loseScrapes(ground: Ground, loss: Loss): Promise<void> {
  const { installation, found } = ground;
  const [{ url, proxy }] = installation.schedulers as [Ground['installation']['schedulers'][number]];
  const isUp = async () => (await (await fetch(`${url}/metrics`)).text()).includes('\nyardmaster_backlog_up 1\n');
  for (const command of LOST_SCRAPES) {
    await until(isUp, BACK_MS);
    const lost = proxy.onNext(sends(command), { does: 'swallow reply', end: loss });
    // What was read just before is shown again for a while.
    await until(async () => !(await isUp()), BACK_MS).catch(() =>
      found({ jobId: null, says: `${command} of a scrape: it told what it cannot know` }),
    );
    if (lost.at === null) found({ jobId: null, says: `${command} of a scrape: no reply was lost` });
    else countLost(ground);
    lost.disarm();
    await until(isUp, BACK_MS);
  }
}

/** Jobs of rows whose history or whose callbacks are not as they must be. */
function notOnce({ dump, history }: Run): Found[] {
  return LOST_DUTIES.flatMap((row): Found[] => {
    const job = dump.jobs.find(({ name, spaceId }) => name === row.title && !SPACES.includes(spaceId));
    if (job === undefined) return [{ jobId: null, says: `${row.title}: its job is not there` }];
    const { id: jobId, events } = job;
    const left = events.map(({ type }) => type);
    const posts = history.entries.filter((entry) => entry.kind === 'callback' && entry.jobId === jobId).length;
    return [
      ...(isDeepStrictEqual(left, row.leaves) ? [] : [{ jobId, says: `${row.title}: left ${left}` }]),
      ...(posts === row.posts ? [] : [{ jobId, says: `${row.title}: ${posts} callbacks came` }]),
    ];
  });
}

const WAYS: [Loss, string][] = [
  ['cut', 'and the connection with it'],
  ['silence', 'and nothing is heard'],
];

export const faults: Fault[] = WAYS.map(([loss, how]) => ({
  id: 'F12',
  variant: `duties-${loss}`,
  title: `a reply that a scheduler waits for is lost, ${how}`,
  promises: ['P3', 'P4', 'P6'],
  stops: ['scheduler'],
  lastsMs: 0,
  drainMs: 90_000, // Jobs are created all the while that one row follows the other.
  async inject(ground) {
    await loseAll(ground, loss);
    await loseScrapes(ground, loss);
    return async () => undefined; // They find out by themselves.
  },
  expect: (run) => [...notOnce(run), ...lateTimeOuts(run, LATE_MS)],
}));
