// npm run bench:growth [-- --scale 0.01] [--operations 500] [--rounds 20] [--appendfsync everysec|off] [--json]
//
// How what a call costs grows with what is there: jobs that wait, spaces, names, names asked for, offsets, API processes.
// At the scale of 1 that is up to a million jobs in one space, put there by calls like any others; it takes some minutes
// and 3 GB of memory. What is compared takes turns. `--appendfsync off` keeps no append-only file.
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { settingsOf, startRedis } from '../processes.mjs';
import { byApis } from './apis.mjs';
import { byFilter } from './filter.mjs';
import { byNames, byPending, bySpaces } from './held.mjs';
import { byOffset } from './list.mjs';
import { growthReport } from './report.mjs';

const text = (byDefault) => ({ type: 'string', default: byDefault });
const { values } = parseArgs({
  options: {
    scale: text('1'),
    operations: text('500'),
    rounds: text('20'),
    appendfsync: text('everysec'),
    json: { type: 'boolean' },
  },
});
const { appendfsync } = values;
const [scale, operations, rounds] = [values.scale, values.operations, values.rounds].map(Number);
const options = { scale, operations, rounds, appendfsync };
if (!['everysec', 'off'].includes(appendfsync)) throw new Error('--appendfsync is everysec or off');
if (!(scale >= 0.001)) throw new Error('--scale is at least 0.001, so that there is a page behind the largest offset');

const settings = settingsOf(appendfsync);

/** Measure one section after the other, and say how long each took. */
async function inOrder(sections) {
  const figures = {};
  for (const [name, section] of Object.entries(sections)) {
    const began = performance.now();
    figures[name] = await section();
    process.stderr.write(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  }
  return figures;
}

const small = await startRedis(settings);
const large = await startRedis(settings);
try {
  const figures = {
    machine: { cpu: cpus()[0].model, cores: cpus().length },
    redis: /^redis_version:(\S+)/m.exec(await small.store.redis.info('server'))[1],
    node: process.version,
    options,
  };
  Object.assign(
    figures,
    await inOrder({
      pending: () => byPending(small, large, options),
      list: () => byOffset(large, options),
      filter: () => byFilter(large, options),
    }),
  );
  // Gone when the others are measured, and its memory with it.
  await large.stop();
  Object.assign(
    figures,
    await inOrder({
      spaces: () => bySpaces(small, options),
      names: () => byNames(small, options),
      apis: () => byApis(small, options),
    }),
  );
  process.stdout.write(`${values.json ? JSON.stringify(figures) : growthReport(figures)}\n`);
} finally {
  await large.stop();
  await small.stop();
}
