import { partitionOf } from '@yardmaster/store';
import type { Cluster } from 'ioredis';
import type { RedisCluster } from '../../../test/support/redis/cluster.js';
import { handOver, hasLeft, moveSlot, ownerOf, slotOf } from '../../../test/support/redis/slots.js';
import { until } from '../../../test/support/until.js';
import { check } from '../../checker/checker.js';
import type { Call } from '../../checker/history.js';
import type { Installation } from '../../installation/installation.js';
import { SPACES } from '../../load/plan.js';
import type { Finding } from '../../rules/rule.js';
import { LATE_MS, LATE_UNDER_FAULT_MS, type Timeout } from '../../rules/timeouts.js';
import type { Fault, FaultContext, Heal, Run } from '../../runs/fault.js';
import { callsDuring, lateTimeouts, strayPrints, timeoutsIn, unserved } from '../../runs/measures.js';
import { repeat } from '../../runs/waiting.js';
import { FAILOVER_MS, undoneAround } from './sentinel.js';

// A fault in some partitions excuses nothing in the others.

const PAUSE_MS = 300; // Between two moves of slots.
const TIMED_OUT_MS = 1_000; // A call refused earlier did not time out.
export const LOADED: readonly string[] = SPACES.map(partitionOf); // Partitions of the jobs of the load.

const clusterOf = ({ cluster }: Installation) => cluster as RedisCluster;
const slotOfTag = (cluster: RedisCluster, tag: string) => slotOf(cluster, `{${tag}}`);
const partitionOfJob = (jobId: string) => jobId.slice(0, 2);
const partitionOfCall = ({ jobId, spaceId }: Call): string =>
  jobId === null ? partitionOf(spaceId as string) : partitionOfJob(jobId);

/** Refresh the slot owners of the run's own connection, so that it can read everything at the end. */
const refreshSlots = ({ connection }: Installation) =>
  new Promise<void>((resolve, reject) =>
    (connection as unknown as Cluster).refreshSlotsCache((error) => (error ? reject(error) : resolve())),
  );

/** A failover, for the checks at the end. */
interface Failover {
  killedAt: number;
  elsewhere: readonly string[]; // Partitions of the load that are on other primaries.
  hasTicks: boolean; // Whether BullMQ's keys are on another primary.
}

let failover: Failover; // A process makes one run.

/** Kill a primary that has jobs, and wait until its replica replaces it. */
async function failOver({ installation, random }: FaultContext): Promise<Heal> {
  const cluster = clusterOf(installation);
  const slot = await slotOfTag(cluster, random.of(LOADED));
  const old = await ownerOf(cluster, slot);
  const isElsewhere = async (tag: string) => (await ownerOf(cluster, await slotOfTag(cluster, tag))) !== old;
  const elsewhere: string[] = [];
  for (const partition of LOADED) if (await isElsewhere(partition)) elsewhere.push(partition);
  const hasTicks = await isElsewhere('bull');
  await old.kill();
  failover = { killedAt: Date.now(), elsewhere, hasTicks };
  return async () => {
    await until(() => hasLeft(cluster, slot, old), FAILOVER_MS);
    await refreshSlots(installation);
    await old.resume();
  };
}

/** Report effects of the failover on other primaries: they lose nothing, serve every call and handle timeouts in time. */
function effectsElsewhere(run: Run): Finding[] {
  const { history, dump, outage, installation } = run;
  const { elsewhere, hasTicks } = failover;
  const isElsewhere = (jobId: string | null) => jobId !== null && elsewhere.includes(partitionOfJob(jobId));
  const record = { entries: history.entries, dump, outages: [outage], settings: installation.settings };
  const calls = callsDuring(run).filter((call) => elsewhere.includes(partitionOfCall(call)));
  const timeouts = timeoutsIn(run).filter(({ jobId }) => isElsewhere(jobId));
  // Without the keys of BullMQ, every scheduler waits for a tick before it sweeps on its own.
  const limitMs = hasTicks ? LATE_MS : LATE_UNDER_FAULT_MS;
  return [
    ...check(record).filter(({ jobId }) => isElsewhere(jobId)),
    ...unserved(calls, 'its space is on another primary'),
    ...lateTimeouts(run, { limitMs, timeouts }),
  ];
}

/** Fail over the primaries in sequence. Nothing is unavailable for longer than a call may take. */
async function switchAll({ installation }: FaultContext): Promise<Heal> {
  const cluster = clusterOf(installation);
  for (const partition of LOADED) {
    const old = await handOver(cluster, await slotOfTag(cluster, partition));
    await until(async () => (await old.roleNow()) === 'replica', FAILOVER_MS);
  }
  return () => refreshSlots(installation);
}

/** A move of a partition from one primary to another, epoch milliseconds. */
type Move = { partition: string; from: number; until: number };

let moves: Move[] = [];

/** Move the slots of the load in sequence, each to another primary. */
export async function moveSlots({ installation, random, figures, found }: FaultContext): Promise<Heal> {
  const cluster = clusterOf(installation);
  moves = [];
  const stop = repeat(PAUSE_MS, async () => {
    const partition = random.of(LOADED);
    const slot = await slotOfTag(cluster, partition);
    const from = await ownerOf(cluster, slot);
    const to = random.of((await cluster.primaries()).filter((node) => node !== from));
    const began = Date.now();
    const doubled = await moveSlot(cluster, { slot, from, to });
    if (doubled > 0) found(`two primaries have keys of partition ${partition}`, { promise: 'P16' });
    moves.push({ partition, from: began, until: Date.now() });
  });
  return async () => {
    await stop();
    figures.moves = moves.length;
  };
}

/** Return how long a partition was moving in this time; null if it was not moving. */
function movedMs(partition: string, from: number, to: number): number | null {
  const overlapping = moves.filter((move) => move.partition === partition && move.from <= to && move.until >= from);
  if (overlapping.length === 0) return null;
  return overlapping.reduce((sum, move) => sum + Math.min(to, move.until) - Math.max(from, move.from), 0);
}

/** Report calls that were refused while their slot moved, but took effect. */
function doneAnyway({ history, dump, outage, installation: { settings } }: Run): Finding[] {
  const isRefusal = ({ status, sentAt, endedAt }: Call) => status === 503 && endedAt - sentAt < TIMED_OUT_MS;
  const entries = history.entries.map((entry) =>
    entry.kind === 'call' && isRefusal(entry) ? { ...entry, outcome: 'refused' as const } : entry,
  );
  return check({ entries, dump, outages: [outage], settings }).filter(({ rule }) => rule !== 'responses');
}

/** Report effects of the moves on other slots: only calls and timeouts of the moving slot may fail or wait. */
export function effectsOfMoves(run: Run): Finding[] {
  const isMoving = (call: Call) => movedMs(partitionOfCall(call), call.sentAt, call.endedAt) !== null;
  const excusedMs = ({ jobId, due, at }: Timeout) => movedMs(partitionOfJob(jobId), due, at) ?? 0;
  const timeouts = timeoutsIn(run).filter(({ jobId }) => LOADED.includes(partitionOfJob(jobId)));
  const still = run.history.ofKind('call').filter((call) => !isMoving(call));
  return [
    ...unserved(still, 'its slot was not moving'),
    ...doneAnyway(run),
    ...lateTimeouts(run, { limitMs: LATE_MS, timeouts, excusedMs }),
    ...strayPrints(run.installation.apps),
  ];
}

const common = { stops: ['redis'], installation: { isCluster: true } } as const;

export const faults: Fault[] = [
  {
    ...common,
    name: 'F9-failover',
    title: 'a primary of a cluster is killed, and its replica takes over',
    promises: ['P1', 'P2', 'P12'],
    lastsMs: 0,
    inject: failOver,
    expect: effectsElsewhere,
    undone: () => undoneAround(failover.killedAt),
  },
  {
    ...common, // BullMQ may lose a tick with the old primary, so timeouts may be late.
    name: 'F9-switch',
    title: 'each primary of a cluster hands over to its replica, as before an upgrade',
    promises: ['P1', 'P12', 'P15'],
    lastsMs: 0,
    inject: switchAll,
    expect: ({ history, installation }) => [
      ...unserved(history.ofKind('call'), 'a primary only handed over'),
      ...strayPrints(installation.apps),
    ],
  },
  {
    ...common,
    name: 'F9-migration',
    title: 'slots with live jobs are moved from primary to primary of a cluster',
    promises: ['P2', 'P3', 'P12', 'P16'],
    lastsMs: 8_000,
    inject: moveSlots,
    expect: effectsOfMoves,
  },
];
