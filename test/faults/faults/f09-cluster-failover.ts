import { hasLeft, ownerOf } from '../../support/redis/slots.js';
import { until } from '../../support/until.js';
import { check } from '../checker.js';
import type { Fault, Ground, Run } from '../fault.js';
import type { Installation } from '../installation.js';
import { callsDuring } from '../measures.js';
import type { Found } from '../rules/rule.js';
import { clusterOf, LOADED, latenessIn, learnSlots, partitionOfCall, partitionOfJob, slotOfTag } from '../shards.js';

/** What the primary may have answered and not yet sent to its replica: milliseconds, on an idle machine. */
const UNSENT_MS = 100;

const FAILOVER_MS = 40_000;

/** A time-out is met within this, wherever nothing is away (P4)… */
const LATE_MS = 2_000;

/** …and within this while BullMQ's keys are, since every scheduler waits for a tick before it sweeps by itself. */
const LATE_WITHOUT_TICKS_MS = 5_000;

/** A failover under way, and what `expect` needs of it. */
interface Failover {
  killedAt: number;
  /** Partitions of the load on the primaries that live. */
  elsewhere: readonly string[];
  /** Whether BullMQ's keys are on a primary that lives. */
  hasTicks: boolean;
}

const failovers = new WeakMap<Installation, Failover>();
const failoverOf = ({ installation }: Run) => failovers.get(installation) as Failover;

export const faults: Fault[] = [
  {
    id: 'F9',
    variant: 'failover',
    title: 'a primary of a cluster is killed, and its replica takes over',
    promises: ['P1', 'P2', 'P12'],
    stops: ['redis'],
    lastsMs: 0,
    installation: { isCluster: true },
    inject: failOver,
    expect: (run) => [...lostElsewhere(run), ...unservedElsewhere(run), ...lateElsewhere(run), ...measured(run)],
    forgotten: (run) => around(failoverOf(run).killedAt),
  },
];

/** The last that the old primary has answered. */
const around = (at: number) => [{ from: at - UNSENT_MS, until: at + UNSENT_MS }];

/** Kill a primary that has jobs, and wait until its replica has its place. */
async function failOver({ installation, random, figures }: Ground): Promise<() => Promise<void>> {
  const cluster = clusterOf(installation);
  const slot = await slotOfTag(cluster, random.of(LOADED));
  const old = await ownerOf(cluster, slot);
  const isElsewhere = async (tag: string) => (await ownerOf(cluster, await slotOfTag(cluster, tag))) !== old;
  const elsewhere: string[] = [];
  for (const partition of LOADED) if (await isElsewhere(partition)) elsewhere.push(partition);
  const hasTicks = await isElsewhere('bull');
  await old.kill();
  const killedAt = Date.now();
  failovers.set(installation, { killedAt, elsewhere, hasTicks });
  return async () => {
    await until(() => hasLeft(cluster, slot, old), FAILOVER_MS);
    figures['decided after, ms'] = Date.now() - killedAt;
    await learnSlots(installation);
    await old.resume();
  };
}

/** What the other primaries were told they still know: nothing of theirs may be forgotten, whenever it was answered. */
function lostElsewhere(run: Run): Found[] {
  const { history, dump, outage, installation } = run;
  const { elsewhere } = failoverOf(run);
  const record = { entries: history.entries, dump, outages: [outage], settings: installation.settings };
  return check(record).filter(({ jobId }) => jobId !== null && elsewhere.includes(partitionOfJob(jobId)));
}

/** The spaces of the other primaries are served all the while. */
function unservedElsewhere(run: Run): Found[] {
  const { elsewhere } = failoverOf(run);
  return callsDuring(run)
    .filter((call) => call.outcome === 'unknown' && elsewhere.includes(partitionOfCall(call)))
    .map(({ op, jobId, line, status, code, body }) => ({
      jobId,
      promise: 'P12',
      says: `${op} in a space of another primary was not served: ${status ?? body} ${code ?? ''}`,
      lines: [line],
    }));
}

/** Their time-outs are met as ever. */
function lateElsewhere(run: Run): Found[] {
  const { elsewhere, hasTicks } = failoverOf(run);
  const boundMs = hasTicks ? LATE_MS : LATE_WITHOUT_TICKS_MS;
  const timeOuts = latenessIn(run, elsewhere);
  run.figures['latest time-out elsewhere, ms'] = Math.max(0, ...timeOuts.map(({ lateMs }) => lateMs));
  return timeOuts
    .filter(({ lateMs, at, due }) => lateMs - run.lag.between(due, at) > boundMs)
    .map(({ jobId, event, lateMs }) => ({
      promise: 'P4',
      damage: 'late',
      jobId,
      says: `${event.type} (${event.id}) in a space of another primary came ${lateMs} ms late`,
    }));
}

/** How much of what clients were answered is gone, and how long calls failed. */
function measured(run: Run): [] {
  const { history, dump, figures } = run;
  const { killedAt } = failoverOf(run);
  const kept = new Set(dump.jobs.map(({ id }) => id));
  const created = history.calls.filter(({ op, outcome }) => op === 'create' && outcome === 'ok');
  figures['creations lost'] = created.filter(({ jobId }) => !kept.has(jobId as string)).length;
  const failed = history.calls.filter(({ outcome }) => outcome === 'unknown').map(({ sentAt }) => sentAt);
  figures['last call failed after, ms'] = Math.max(0, Math.max(0, ...failed) - killedAt);
  return [];
}
