import { setTimeout as delay } from 'node:timers/promises';
import type { RedisNode } from '../../support/redis/node.js';
import type { Sentinels } from '../../support/redis/sentinels.js';
import { until } from '../../support/until.js';
import type { Fault, Ground, Run } from '../fault.js';
import { cutReplicas, hasReplica, mendReplicas, requireReplica } from '../replication.js';

/** What the primary may have answered and not yet sent to a replica: milliseconds, on an idle machine. */
const UNSENT_MS = 100;

/** How long the primary is alone before it is killed. */
const ALONE_MS = 4_000;

const FAILOVER_MS = 40_000;

/** Sentinels tell each other every 2 s what they have decided. */
const SETTLED_MS = 2_500;

/** What the table calls the time from the kill on, by which the run finds it again. */
const KILLED_AT = 'primary killed';

const common = {
  promises: ['P1', 'P2', 'P12'],
  stops: ['redis'],
  lastsMs: 0,
  installation: { hasSentinels: true },
  forgotten: (run) => around(killedAt(run)),
} satisfies Partial<Fault>;

export const faults: Fault[] = [
  {
    ...common,
    id: 'F7',
    variant: 'killed',
    title: 'the primary of Sentinel is killed',
    async inject(ground) {
      return failOver(ground, await sentinelsOf(ground).primary());
    },
    expect: measure,
  },
  {
    ...common,
    id: 'F7',
    variant: 'alone',
    title: 'the primary of Sentinel is cut off from its replicas, and then killed',
    async inject(ground) {
      const sentinels = sentinelsOf(ground);
      const primary = await sentinels.primary();
      await requireReplica(sentinels);
      await cutReplicas(sentinels, primary);
      await delay(ALONE_MS);
      // What it took all alone is what a failover throws away: nothing, since it takes nothing.
      return failOver(ground, primary);
    },
    expect: measure,
    forgotten: ({ outage }) => around(outage.from),
  },
];

/** The last that the old primary has answered. */
const around = (at: number) => [{ from: at - UNSENT_MS, until: at + UNSENT_MS }];

function sentinelsOf({ installation: { sentinels } }: Ground): Sentinels {
  if (sentinels === null) throw new Error('there are no Sentinels');
  return sentinels;
}

/** Kill the primary, and wait until another one has its place and a replica. */
async function failOver(ground: Ground, old: RedisNode): Promise<() => Promise<void>> {
  const sentinels = sentinelsOf(ground);
  await old.kill();
  ground.history.note(KILLED_AT);
  const began = Date.now();
  await mendReplicas(sentinels);
  return async () => {
    await until(async () => (await sentinels.primary()) !== old, FAILOVER_MS);
    ground.figures['decided after, ms'] = Date.now() - began;
    // Two Sentinels may begin a failover each, and the second one undo what the first has done.
    let since = Date.now();
    await until(async () => {
      if (!(await hasReplica(sentinels, await sentinels.primary()))) since = Date.now();
      return Date.now() - since > SETTLED_MS;
    }, FAILOVER_MS);
    await old.resume();
  };
}

function killedAt({ history }: Run): number {
  const note = history.entries.find((entry) => entry.kind === 'note' && entry.says === KILLED_AT);
  return note?.kind === 'note' ? note.at : Number.NaN;
}

/** How much of what clients were answered is gone. */
function measure({ history, dump, outage, figures }: Run): [] {
  const kept = new Set(dump.jobs.map(({ id }) => id));
  const created = history.calls.filter(({ op, outcome }) => op === 'create' && outcome === 'ok');
  figures['creations lost'] = created.filter(({ jobId }) => !kept.has(jobId as string)).length;
  const failed = history.calls.filter(({ outcome }) => outcome === 'unknown').map(({ answeredAt }) => answeredAt);
  figures['last call failed after, ms'] = Math.max(0, ...failed) - outage.from;
  return [];
}
