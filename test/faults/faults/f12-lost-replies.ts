import type { Fault, Ground } from '../fault.js';
import { LOST_CHANGES } from '../lost-replies/changes.js';
import { LOST_KEY_READS } from '../lost-replies/key-reads.js';
import { LOST_KEY_CALLS } from '../lost-replies/keys.js';
import { type Loss, type LostReply, loserOf, type Trial } from '../lost-replies/lost-reply.js';
import { LOST_READS } from '../lost-replies/reads.js';
import { isReady, isServing } from '../lost-replies/serving.js';
import { LOST_STREAMS } from '../lost-replies/streams.js';

let trials = 1_000_000; // Numbers that no job of the load has.

const ROWS: readonly LostReply[] = [
  ...LOST_CHANGES,
  ...LOST_READS,
  ...LOST_KEY_CALLS,
  ...LOST_KEY_READS,
  ...LOST_STREAMS,
];

/** One reply after the other. */
async function loseOneByOne(ground: Ground, rows: readonly LostReply[], loss: Loss): Promise<void> {
  for (const row of rows) {
    const trial = await row.begin(ground, trials++, loss);
    await trial.send();
    await healed(ground);
    await trial.judge();
  }
}

/** All at once on connections that fall silent: each call waits until its time is over. */
async function loseAllAtOnce(ground: Ground, rows: readonly LostReply[]): Promise<void> {
  const all: Trial[] = [];
  for (const row of rows) all.push(await row.begin(ground, trials++, 'silence'));
  await Promise.all(all.map((trial) => trial.send()));
  await healed(ground);
  for (const trial of all) await trial.judge();
}

/** Reset connections that are silent, and wait until there are others. */
async function healed(ground: Ground): Promise<void> {
  const gateway = loserOf(ground, 'gateway');
  for (const { proxy } of [loserOf(ground, 'api'), gateway]) proxy.cutLost();
  await isServing(ground);
  await isReady(gateway.url);
}

const WAYS: [variant: string, how: string, lose: (ground: Ground) => Promise<void>][] = [
  ['cut', 'and the connection with it', (ground) => loseOneByOne(ground, ROWS, 'cut')],
  [
    'silent',
    'and nothing is heard',
    async (ground) => {
      await loseAllAtOnce(
        ground,
        ROWS.filter(({ isLater }) => !isLater),
      );
      await loseOneByOne(
        ground,
        ROWS.filter(({ isLater }) => isLater),
        'silence',
      );
    },
  ],
];

export const faults: Fault[] = WAYS.map(([variant, how, lose]) => ({
  id: 'F12',
  variant,
  title: `the reply of a script is lost, ${how}`,
  promises: ['P3', 'P12'],
  stops: ['redis'],
  // Nothing of a trial shall come back by itself before it is judged.
  installation: { env: { DELIVERY_TIMEOUT_SECONDS: '10' } },
  lastsMs: 0,
  drainMs: 90_000, // Jobs are created all the while that one row follows the other.
  async inject(ground) {
    ground.hits(loserOf(ground, 'api'), loserOf(ground, 'gateway'));
    await lose(ground);
    return () => isServing(ground);
  },
}));
