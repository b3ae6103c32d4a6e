// npm run bench:growth [-- --scale 0.01] [--operations 500] [--rounds 20] [--persistence everysec|off] [--json]
//
// How what a call costs grows with what is there: jobs that wait, spaces, names, names asked for, offsets, API processes.
// At the scale of 1 that is up to a million jobs in one space, put there by calls like any others; it takes some minutes
// and 3 GB of memory. What is compared takes turns.
import { print, readOptions } from '../command-line.mjs';
import { machineOf } from '../machine.mjs';
import { startRedis } from '../processes.mjs';
import { byApis } from './apis.mjs';
import { byNames, byPending, bySpaces } from './held.mjs';
import { byFilter, byOffset } from './reads.mjs';
import { tables } from './tables.mjs';

const { json, ...options } = readOptions({ scale: 1, operations: 500, rounds: 20, persistence: 'everysec' });
if (!(options.scale >= 0.001)) throw new Error('--scale must be at least 0.001: no page is behind the largest offset');

const small = await startRedis(options);
const large = await startRedis(options);
try {
  const results = { machine: await machineOf(small.redis), options };
  results.pending = await byPending(small, large, options);
  results.list = await byOffset(large, options);
  results.filter = await byFilter(large, options);
  await large.stop(); // And its memory is free.
  results.spaces = await bySpaces(small, options);
  results.names = await byNames(small, options);
  results.apis = await byApis(small, options);
  print(results, tables, json);
} finally {
  await large.stop();
  await small.stop();
}
