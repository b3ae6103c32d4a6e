// npm run bench:timers [-- --timers 50000] [--operations 500] [--rounds 100] [--spaces 64] [--json]
//
// What one outstanding timer costs: ours, an entry of a sorted set that the script of the transition writes, against a
// delayed BullMQ job for each. Memory as the difference of used_memory; CPU per operation, of Redis and of this process,
// which is the client, as the median of many short rounds in which the contestants take turns.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { newJobId } from '@yardmaster/store';
import { inBatches, nextOf, settledMemory, summary, takeTurns } from '../meter.mjs';
import { startRedis } from '../processes.mjs';
import {
  ackAndComplete,
  bullTimers,
  deleteDeadlines,
  deliveredJobs,
  keepAlive,
  runningJobs,
  SPACES,
  withoutTimers,
} from './contestants.mjs';
import { costReport } from './cost-report.mjs';

const number = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: {
    timers: number(50_000),
    operations: number(500),
    rounds: number(100),
    spaces: number(64),
    json: { type: 'boolean' },
  },
});
const [timers, operations, rounds, spaces] = [values.timers, values.operations, values.rounds, values.spaces].map(
  Number,
);

const server = await startRedis();
const { redis } = server.store;
// An ended job is kept for ever here, so a completion cancels the timer and does not start that of the purge.
const store = { ...server.store, settings: { ...server.store.settings, retentionMs: 0 } };
const bare = await withoutTimers(store);
const bull = bullTimers(redis);

/** Bytes per entry of `deadlines`, all jobs there being running. */
async function deadlineBytes() {
  const withThem = await settledMemory(redis);
  await deleteDeadlines(store);
  return (withThem - (await settledMemory(redis))) / timers;
}

/**
 * Bytes per delayed job, and those jobs. In some runs 32 bytes less: whether the table of a job's hash, which grows once,
 * is done with that depends on the random seed of that Redis.
 */
async function bullBytes() {
  const ids = Array.from({ length: timers }, (_, n) => newJobId(SPACES[n % SPACES.length]));
  const empty = await settledMemory(redis);
  const jobs = await bull.set(ids);
  const bytes = (await settledMemory(redis)) - empty - (await bull.eventBytes());
  return { jobs, bytes: bytes / timers };
}

/** Medians of what takes turns, and of what the timer's own commands add to a script, round by round. */
function medians({ ours, bare, ...others }) {
  const timer = ours.map((cost, round) => ({
    redis: cost.redis - bare[round].redis,
    client: cost.client - bare[round].client,
  }));
  return Object.fromEntries(
    Object.entries({ ours, timer, ...others }).map(([name, costs]) => [
      name,
      { redis: summary(costs.map((cost) => cost.redis)), client: summary(costs.map((cost) => cost.client)) },
    ]),
  );
}

/** Push timers forward: a keepalive, and what BullMQ has for it. */
async function heartbeats(ids, jobs, atOnce) {
  const count = atOnce === 1 ? Math.ceil(operations / 2) : operations;
  const [nextIds, nextJobs] = [nextOf(ids, count), nextOf(jobs, count)];
  const contestants = {
    ours: { prepare: nextIds, run: (some) => keepAlive(store, some, atOnce) },
    bare: { prepare: nextIds, run: (some) => keepAlive(bare, some, atOnce) },
    changeDelay: { prepare: nextJobs, run: (some) => bull.push(some, atOnce) },
    removeAndAdd: { prepare: nextJobs, run: (some) => bull.replace(some, atOnce) },
  };
  return medians(await takeTurns(redis, contestants, { rounds, count }));
}

/** Set timers and cancel them: ack and complete, and what BullMQ has for it. */
async function cancelled() {
  const running = SPACES.slice(0, spaces);
  const prepare = async () => {
    const ids = await deliveredJobs(store, running, operations);
    await inBatches(redis, ids, 50, (id) => redis.zrem(store.keys.deadlines(id.slice(0, 2)), id));
    return ids;
  };
  const contestants = {
    ours: { prepare, run: (ids) => ackAndComplete(store, ids) },
    bare: { prepare, run: (ids) => ackAndComplete(bare, ids) },
    addAndRemove: { prepare, run: (ids) => bull.setAndCancel(ids) },
  };
  return medians(await takeTurns(redis, contestants, { rounds, count: operations }));
}

try {
  await runningJobs(store, SPACES.slice(0, 1), timers);
  const onePartition = await deadlineBytes();
  await redis.flushall();

  const { jobs, bytes } = await bullBytes();
  let ids = await runningJobs(store, SPACES, timers);
  const spread = await deadlineBytes();

  // What is outstanding while CPU is measured: as many timers of each kind.
  if (spaces < SPACES.length) ids = await runningJobs(store, SPACES.slice(0, spaces), timers);
  else await keepAlive(store, ids, 50);

  const figures = {
    machine: { node: process.version, cpu: cpus()[0].model, cores: cpus().length },
    redis: /^redis_version:(\S+)/m.exec(await redis.info('server'))[1],
    timers,
    rounds,
    spaces,
    memory: { spread, onePartition, bull: bytes },
    heartbeatTogether: await heartbeats(ids, jobs, 50),
    heartbeatAlone: await heartbeats(ids, jobs, 1),
    cancelled: await cancelled(),
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : costReport(figures)}\n`);
} finally {
  await bull.close();
  await server.stop();
}
