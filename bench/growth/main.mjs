// npm run bench:growth [-- --scale 0.01] [--operations 500] [--rounds 20] [--persistence everysec|off] [--json]
//
// Measure how the cost of a call grows: with pending jobs, spaces, names, names in a poll, offsets and API processes. At a scale
// of 1 there are up to a million jobs in one space, made by ordinary calls. It takes some minutes and 3 GB of memory.

import { startRedis } from '../processes.mjs';
import { print, readOptions } from '../report/command-line.mjs';
import { machineOf } from '../report/machine.mjs';
import { byApis } from './apis.mjs';
import { byNames, byPending, bySpaces } from './pending.mjs';
import { byFilter, byOffset } from './reads.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ scale: 1, operations: 500, rounds: 20, persistence: 'everysec' });
if (!(options.scale >= 0.001))
  throw new Error('--scale must be at least 0.001, or no page is behind the largest offset');

const small = await startRedis(options);
const large = await startRedis(options);
try {
  const results = { machine: await machineOf(small.redis), options };
  results.pending = await byPending(small, large, options);
  results.list = await byOffset(large, options);
  results.filter = await byFilter(large, options);
  await large.stop(); // Free its memory.
  results.spaces = await bySpaces(small, options);
  results.names = await byNames(small, options);
  results.apis = await byApis(small, options);
  print(results, tables, json);
} finally {
  await large.stop();
  await small.stop();
}
