import { moveSlot, ownerOf } from '../../support/redis/slots.js';
import { check } from '../checker.js';
import type { Fault, Ground, Run } from '../fault.js';
import type { Call } from '../history.js';
import type { Installation } from '../installation.js';
import { slowestAnswer, strayPrints, unanswered } from '../measures.js';
import { repeat } from '../repeat.js';
import type { Found } from '../rules/rule.js';
import { clusterOf, LOADED, latenessIn, partitionOfCall, partitionOfJob, slotOfTag } from '../shards.js';

/** Between two moves. */
const PAUSE_MS = 300;

/** A time-out is met within this, wherever nothing is away (P4). */
const LATE_MS = 2_000;

/** A call that was answered sooner has not waited for Redis in vain. */
const TIMED_OUT_MS = 1_000;

/** A partition on its way from one primary to another, epoch milliseconds. */
interface Move {
  partition: string;
  from: number;
  until: number;
}

const allMoves = new WeakMap<Installation, Move[]>();
const movesOf = ({ installation }: Run) => allMoves.get(installation) as Move[];

export const faults: Fault[] = [
  {
    id: 'F9',
    variant: 'migration',
    title: 'slots with live jobs are moved from primary to primary of a cluster',
    promises: ['P2', 'P3', 'P12', 'P16'],
    stops: ['redis'],
    lastsMs: 8_000,
    installation: { isCluster: true },
    inject: moveAbout,
    expect: (run) => [
      ...unanswered(run),
      ...unserved(run),
      ...done(run),
      ...late(run),
      ...strayPrints(run),
      ...measured(run),
    ],
  },
];

/** Move one slot of the load after the other, each to a primary that has it not. */
async function moveAbout({ installation, random, figures, found }: Ground): Promise<() => Promise<void>> {
  const cluster = clusterOf(installation);
  const moves: Move[] = [];
  allMoves.set(installation, moves);
  const stop = repeat(PAUSE_MS, async () => {
    const partition = random.of(LOADED);
    const slot = await slotOfTag(cluster, partition);
    const from = await ownerOf(cluster, slot);
    const to = random.of((await cluster.primaries()).filter((node) => node !== from));
    const began = Date.now();
    const doubled = await moveSlot(cluster, { slot, from, to });
    if (doubled > 0) found({ promise: 'P16', jobId: null, says: `two primaries have keys of partition ${partition}` });
    moves.push({ partition, from: began, until: Date.now() });
  });
  return async () => {
    await stop();
    figures.moves = moves.length;
    figures['longest move, ms'] = Math.max(...moves.map(({ from, until }) => until - from));
  };
}

const moving = (moves: readonly Move[], partition: string, from: number, until: number) =>
  moves.filter((move) => move.partition === partition && move.from <= until && move.until >= from);

/** A call fails only while its own slot moves. */
function unserved(run: Run): Found[] {
  const moves = movesOf(run);
  return run.history.calls
    .filter((call) => call.outcome === 'unknown')
    .filter((call) => moving(moves, partitionOfCall(call), call.sentAt, call.answeredAt).length === 0)
    .map(({ op, jobId, line, status, code, body }) => ({
      jobId,
      promise: 'P12',
      says: `${op} was not served, and its slot was not moving: ${status ?? body} ${code ?? ''}`,
      lines: [line],
    }));
}

/** What a slot on its way refuses is not done: nobody is left to wonder. Judged like a call that was refused for good. */
function done({ history, dump, outage, installation: { settings } }: Run): Found[] {
  const isRefusal = ({ status, sentAt, answeredAt }: Call) => status === 503 && answeredAt - sentAt < TIMED_OUT_MS;
  const entries = history.entries.map((entry) =>
    entry.kind === 'call' && isRefusal(entry) ? { ...entry, outcome: 'refused' as const } : entry,
  );
  return check({ entries, dump, outages: [outage], settings }).filter(({ rule }) => rule !== 'answers');
}

/** A time-out waits for no longer than its own slot moves. */
function late(run: Run): Found[] {
  const moves = movesOf(run);
  const movedFor = (jobId: string, due: number, at: number) =>
    moving(moves, partitionOfJob(jobId), due, at).reduce(
      (sum, move) => sum + Math.min(at, move.until) - Math.max(due, move.from),
      0,
    );
  return latenessIn(run, LOADED)
    .map((it) => ({ ...it, lateMs: it.lateMs - movedFor(it.jobId, it.due, it.at) - run.lag.between(it.due, it.at) }))
    .filter(({ lateMs }) => lateMs > LATE_MS)
    .map(({ jobId, event, lateMs }) => ({
      promise: 'P4',
      damage: 'late',
      jobId,
      says: `${event.type} (${event.id}) came ${lateMs} ms late, the moves of its slot left out`,
    }));
}

function measured(run: Run): [] {
  run.figures['slowest answer, ms'] = slowestAnswer(run);
  return [];
}
