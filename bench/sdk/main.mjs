// npm run bench:sdk [-- --jobs 3000] [--rate 200] [--seconds 5] [--concurrency 20] [--payload 200] [--rounds 9]
//                   [--leave-out go,asynq,python] [--json]
//
// Measure the CPU time of a worker of each SDK, compared with a BullMQ worker and an Asynq server. Each is a separate process, and
// they take turns: with a queue that was filled before, and with jobs that arrive one at a time. Handlers return immediately.
import { median } from '../meter.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { cpuRows, ratioRows, takeTurns } from '../speed/measure.mjs';
import { CONTESTANTS, missing, startContestants } from './contestants.mjs';
import { tables } from './tables.mjs';

/** SDKs and the contestants that they are compared with, in the same language. */
const PEERS = { typescript: 'bullmq', go: 'asynq' };

const { json, ...options } = readOptions({
  jobs: 3_000,
  rate: 200,
  seconds: 5,
  concurrency: 20,
  payload: 200,
  rounds: 9,
  'leave-out': '',
});
const { jobs, rate, seconds } = options;

const isLeftOut = new Set(options['leave-out'].split(','));
const cannotRun = missing().filter((name) => !isLeftOut.has(name));
if (cannotRun.length > 0) {
  process.stderr.write(`Go or Python is not installed, so these contestants are left out: ${cannotRun.join(', ')}\n`);
  for (const name of cannotRun) isLeftOut.add(name);
}
const who = CONTESTANTS.filter((name) => !isLeftOut.has(name));
const comparisons = Object.entries(PEERS)
  .filter((pair) => pair.every((name) => who.includes(name)))
  .map(([one, other]) => [one, other, ['worker']]);

const LOADS = { filled: { jobs }, arriving: { jobs: rate * seconds, rate } };

const { contestants, stop } = await startContestants(who, options);
try {
  const [redis] = Object.values(contestants)[0].processes.redis;
  const results = { machine: await machineOf(redis.redis), options, cpu: [], ratios: [] };
  for (const [name, load] of Object.entries(LOADS)) {
    const turns = await takeTurns(contestants, options.rounds, load);
    const jobsPerClaim = (who) => median(turns[who].map((turn) => turn.jobsPerClaim));
    results.cpu.push(...cpuRows(name, [turns]).map((row) => ({ ...row, jobsPerClaim: jobsPerClaim(row.who) })));
    results.ratios.push(...ratioRows(name, [turns], comparisons));
  }
  print(results, tables, json);
} finally {
  await stop();
}
