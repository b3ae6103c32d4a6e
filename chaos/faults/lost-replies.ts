import { nextNumber } from '../load/own-jobs.js';
import { LOST_CALLS, LOST_KEY_READS } from '../lost-replies/calls.js';
import { effectsNotOnce, loseSchedulerReplies, loseScrapes } from '../lost-replies/scheduler.js';
import { LOST_STREAMS } from '../lost-replies/streams.js';
import { healed, type LostReply, loserOf } from '../lost-replies/trial.js';
import type { Fault, FaultContext } from '../runs/fault.js';
import { lateTimeouts } from '../runs/measures.js';

/** Every reply that an API or a gateway waits for. */
const ROWS: readonly LostReply[] = [...LOST_CALLS, ...LOST_KEY_READS, ...LOST_STREAMS];

/** Lose the replies in sequence. */
async function loseOneByOne(context: FaultContext, rows: readonly LostReply[], loss: 'cut' | 'silence'): Promise<void> {
  for (const row of rows) {
    const trial = await row.begin(context, nextNumber(), loss);
    await trial.send();
    await healed(context);
    await trial.check();
  }
}

/** Lose replies without closing the connection, most at the same time, because each call waits for its timeout. */
async function loseInSilence(context: FaultContext): Promise<void> {
  const [atOnce, later] = [ROWS.filter(({ isLater }) => !isLater), ROWS.filter(({ isLater }) => isLater)];
  const trials = [];
  for (const row of atOnce) trials.push(await row.begin(context, nextNumber(), 'silence'));
  await Promise.all(trials.map((trial) => trial.send()));
  await healed(context);
  for (const trial of trials) await trial.check();
  await loseOneByOne(context, later, 'silence');
}

const CUT = 'and the connection with it';
const SILENT = 'and the connection stays open';

const lostReplies = (variant: string, how: string, lose: (context: FaultContext) => Promise<void>): Fault => ({
  name: `F12-${variant}`,
  title: `the reply to a script or a command is lost, ${how}`,
  promises: ['P3', 'P12'],
  stops: ['redis'],
  // No job of a trial must return to its queue before it is checked.
  installation: { env: { DELIVERY_TIMEOUT_SECONDS: '30' } },
  lastsMs: 0,
  async inject(context) {
    context.affects(loserOf(context, 'api'), loserOf(context, 'gateway'));
    await lose(context);
    return () => healed(context);
  },
});

const lostSchedulerReplies = (variant: string, how: string, loss: 'cut' | 'silence'): Fault => ({
  name: `F12-${variant}`,
  title: `a reply that a scheduler waits for is lost, ${how}`,
  promises: ['P3', 'P4', 'P6'],
  stops: ['scheduler'],
  installation: { env: { DELIVERY_TIMEOUT_SECONDS: '5' } }, // Acks arrive in time.
  lastsMs: 0,
  async inject(context) {
    await loseSchedulerReplies(context, loss);
    await loseScrapes(context, loss);
    return undefined; // Schedulers recover on their own.
  },
  expect: (run) => [...effectsNotOnce(run), ...lateTimeouts(run)],
});

export const faults: Fault[] = [
  lostReplies('cut', CUT, (context) => loseOneByOne(context, ROWS, 'cut')),
  lostReplies('silent', SILENT, loseInSilence),
  lostSchedulerReplies('scheduler-cut', CUT, 'cut'),
  lostSchedulerReplies('scheduler-silent', SILENT, 'silence'),
];
