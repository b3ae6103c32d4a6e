// npm run bench:scripts [-- --jobs 20000] [--rounds 5] [--persistence everysec|off] [--spaces 1] [--json]
//
// What each script of a job's life takes of Redis: CPU, with what it costs to read the call and write the answer, sent in
// pipelines; and the commands within it.
import { parseArgs } from 'node:util';
import { ANY_SPACE, ackJob, completeJob, createJob, pollJobs } from '@yardmaster/store';
import { inBatches, summary } from '../meter.mjs';
import { cpuMs, settingsOf, startRedis } from '../processes.mjs';

const text = (byDefault) => ({ type: 'string', default: String(byDefault) });
const { values } = parseArgs({
  options: {
    jobs: text(5_000),
    rounds: text(7),
    persistence: text('everysec'),
    spaces: text(1),
    json: { type: 'boolean' },
  },
});
const [jobs, rounds, spaces] = [values.jobs, values.rounds, values.spaces].map(Number);

const server = await startRedis(settingsOf(values.persistence));
const { store, pid } = server;
const payload = { text: 'x'.repeat(189) };
const request = {
  name: 'bench',
  payload,
  maxRetries: 3,
  timeoutSeconds: 300,
  callbackUrl: null,
  callbackHeaders: null,
};
const spaceOf = (n) => `space-${n % spaces}`;
const ids = [];

const VERBS = {
  create: (n) => createJob(store, spaceOf(n), request),
  poll: async (n) => {
    const [job] = await pollJobs(store, spaceOf(n), { count: 1, names: [] });
    ids[n] = job.id;
  },
  ack: (n) => ackJob(store, ANY_SPACE, ids[n]),
  complete: (n) => completeJob(store, ANY_SPACE, ids[n], { ok: true }),
  emptyPoll: (n) => pollJobs(store, spaceOf(n), { count: 1, names: [] }),
};

/** Commands that Redis has run within scripts, by name. */
async function commandCalls() {
  const info = await store.redis.info('commandstats');
  return Object.fromEntries([...info.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)].map(([, name, calls]) => [name, +calls]));
}

const numbers = Array.from({ length: jobs }, (_, n) => n);
const micros = Object.fromEntries(Object.keys(VERBS).map((name) => [name, []]));
const commands = {};
for (let round = -1; round < rounds; round++) {
  for (const [name, verb] of Object.entries(VERBS)) {
    const [before, cpu] = [await commandCalls(), cpuMs(pid)];
    await inBatches(store.redis, numbers, 50, verb);
    if (round >= 0) micros[name].push(((cpuMs(pid) - cpu) * 1000) / jobs);
    const after = await commandCalls();
    const called = Object.entries(after).map(([command, calls]) => [command, (calls - (before[command] ?? 0)) / jobs]);
    commands[name] = Object.fromEntries(called.filter(([, calls]) => calls > 0.01));
  }
}
const figures = Object.fromEntries(
  Object.keys(VERBS).map((name) => [name, { micros: summary(micros[name]), commands: commands[name] }]),
);
await server.stop();

for (const [name, { micros: cpu, commands: calls }] of Object.entries(figures)) {
  const list = Object.entries(calls).map(([command, count]) => `${command} ${+count.toFixed(2)}`);
  const spread = `${cpu.median.toFixed(1)} (${cpu.low.toFixed(1)}–${cpu.high.toFixed(1)})`;
  if (!values.json) process.stdout.write(`${name.padEnd(10)} ${spread.padStart(20)} µs   ${list.join(', ')}\n`);
}
if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
