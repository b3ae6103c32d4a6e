import { setTimeout as delay } from 'node:timers/promises';
import { revokeOne } from '../load/key-use.js';
import type { Load } from '../load/load.js';
import { bringJob, separateSpaces } from '../load/own-jobs.js';
import { count, isReady } from '../lost-replies/trial.js';
import type { Fault, Run } from '../runs/fault.js';
import { cutsOtherThan, resumedAfter, servedAgainAfter, timeoutsIn } from '../runs/measures.js';
import { repeat } from '../runs/waiting.js';

const LASTS_MS = 15_000;
const OLD_LOST_MS = 15_000; // While new connections work, a process recovers within this time after the fault begins.
const ALL_LOST_MS = 5_000; // Otherwise, it recovers within this time after the fault ends, because it must notice that its newest connection is lost.
const KILLS_AT_MOST = 40; // More than the time allows.

let load: Load; // A process makes one run.

interface Kind {
  kind: 'api' | 'gateway' | 'scheduler';
  promise: `P${number}`;
  againAfter(run: Run): number; // Time from the start until all of them worked again, milliseconds.
}

const KINDS: Kind[] = [
  { kind: 'api', promise: 'P12', againAfter: (run) => servedAgainAfter(run, run.outage.from) },
  { kind: 'gateway', promise: 'P8', againAfter: (run) => resumedAfter(load.messageTimes, run) },
  { kind: 'scheduler', promise: 'P4', againAfter: (run) => resumedAfter(timesOf(timeoutsIn(run)), run) },
];

const timesOf = (all: readonly { at: number }[]) => all.map(({ at }) => at);

/** Make all connections of these processes half-open. @param areAllLost whether new connections are also lost */
const halfOpen = ({ kind, promise, againAfter }: Kind, areAllLost: boolean): Fault => ({
  name: `F11-${kind}-${areAllLost ? 'all' : 'old'}-lost`,
  title: `connections of each ${kind} are half-open, ${areAllLost ? 'new ones are also lost' : 'new ones work'}`,
  promises: [promise],
  stops: ['redis'],
  lastsMs: LASTS_MS,
  async inject({ installation, affects, ...context }) {
    const all = installation.apps.filter(({ name }) => name.startsWith(kind));
    load = context.load;
    affects(...all);
    for (const { proxy } of all) areAllLost ? proxy.set('drop') : proxy.loseAll();
    if (!areAllLost) return undefined; // The process must notice on its own.
    return async () => {
      for (const { proxy } of all) proxy.set('pass');
      await delay(ALL_LOST_MS);
    };
  },
  expect(run) {
    const [sinceMs, limitMs] = areAllLost ? [LASTS_MS, ALL_LOST_MS] : [0, OLD_LOST_MS];
    const ms = Math.max(0, againAfter(run) - sinceMs);
    run.figures['works again after, ms'] = ms;
    const from = run.outage.from + sinceMs;
    const during = { from, until: Math.min(from + ms, Date.now()) };
    return ms <= limitMs ? [] : [{ damage: 'late', says: `the processes worked again after ${ms} ms`, during }];
  },
});

export const faults: Fault[] = [
  ...KINDS.flatMap((kind) => [halfOpen(kind, false), halfOpen(kind, true)]),
  {
    name: 'F19',
    title: 'all subscriber connections are killed every second',
    promises: ['P8', 'P14', 'P6'],
    stops: [], // Calls, timeouts and callbacks do not need subscribers.
    closes: [1012],
    lastsMs: 12_000,
    async inject(context) {
      const { installation, call } = context;
      const spaces = separateSpaces(KILLS_AT_MOST);
      const client = 'unpublished';
      const stopKilling = repeat(1_000, async () => {
        const own = { client, spaceId: spaces.pop() as string, receiving: 'responds' } as const;
        const jobId = await bringJob(context, own, ['claim'], ['ack']);
        const killed = Number(await installation.connection.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
        // No scheduler is notified of this callback, and there is no other callback in its partition.
        await call({ client, op: 'complete', jobId, sent: { result: { token: jobId } } });
        count(context, 'connections killed', killed);
      });
      return async () => {
        await stopKilling();
        await Promise.all(installation.apps.map(({ url }) => isReady(url)));
        await revokeOne(context); // All processes receive revocations again.
      };
    },
    expect: (run) => cutsOtherThan(1012, run),
  },
];
