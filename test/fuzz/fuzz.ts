import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { INSPECTED, liveMemoryOf } from '../support/live-memory.js';
import { Contract } from '../support/openapi.js';
import { startRedis } from '../support/own-redis.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { anyRequests, type FuzzRequest } from './requests.js';
import { send } from './trial.js';

/** Connections at once. */
const CONNECTIONS = 4;

/** Parts of a run, after each of which memory is measured. */
const PARTS = 3;

/** Requests that are sent to shrink one failure. */
const SHRINK_TRIES = 50;

/** Bytes by which memory may grow in a run; more than compiled code and full pools need. */
const MAY_GROW_BYTES = 4 * 1_048_576;

/** Lines of output that no request may cause: errors, and warnings of Node. */
const BAD_LINE = /^.*"level":"(?:error|fatal)".*$|^\(node:.*$/gm;

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Read the options. The same seed draws the same requests; the default is the date. `--short` is the set that CI runs. */
function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { seed: text, path: text, requests: text, short: { type: 'boolean' } } as const;
  const { short = false, path, ...given } = parseArgs({ args, options }).values;
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const { seed, requests } = { seed: short ? '1' : today, requests: short ? '2000' : '20000', ...given };
  if (/^\d+$/.test(seed) && /^\d+$/.test(requests)) return { seed: Number(seed), requests: Number(requests), path };
  throw new Error('--seed and --requests must be whole numbers');
}

/**
 * Send unusual requests to a service of its own, and check the responses and what is left afterwards.
 *
 * @param args of the command line
 * @returns exit code: 0 without failures
 */
export async function fuzz(args: string[]): Promise<number> {
  const { seed, requests, path } = readOptions(args);
  print(`seed ${seed}, ${requests} requests`);
  const redis = await startRedis();
  const service = await startService(INSPECTED, { redis, isOwn: true });
  const output = () => service.process?.output() ?? '';
  async function live() {
    const { heapBytes, externalBytes, sockets } = await liveMemoryOf(output());
    return { bytes: heapBytes + externalBytes, sockets };
  }
  const contract = new Contract((await service.call('GET', '/openapi.json')).body);
  const property = fc.asyncProperty(fc.limitShrink(anyRequests, SHRINK_TRIES), (some) => send(service, contract, some));
  let failures = 0;
  const fail = (text: string) => {
    failures++;
    print(`FAILED ${text}`);
  };
  async function check(parameters: fc.Parameters<[FuzzRequest[]]>) {
    const run = await fc.check(property, parameters);
    const again = `npm run test:long -- fuzz --seed ${run.seed} --path ${run.counterexamplePath}`;
    if (run.failed) fail(`${run.errorInstance}\n  again: ${again}`);
  }

  const bytes: number[] = [];
  const numRuns = Math.ceil(requests / PARTS / CONNECTIONS);
  if (path) await check({ seed, path, endOnFailure: true });
  for (let part = 0; part < PARTS && !path && failures === 0; part++) {
    const seeds = Array.from({ length: CONNECTIONS }, (_, n) => seed * 100 + part * CONNECTIONS + n);
    await Promise.all(seeds.map((each) => check({ seed: each, numRuns })));
    if (failures === 0) bytes.push((await live()).bytes);
  }

  service.http.close();
  let left = { bytes: 0, sockets: 0 };
  const isGone = async () => {
    left = await live();
    return left.sockets === 0 && left.bytes < Math.min(...bytes, left.bytes) + MAY_GROW_BYTES;
  };
  await until(isGone).catch(() => fail(`afterwards: ${JSON.stringify(left)}; after each part: ${bytes} bytes`));
  await service.stop().catch((error) => fail(`${error}`)); // It runs fsck.
  for (const line of output().match(BAD_LINE) ?? []) fail(line);
  await redis.stop();
  print(`${failures} failures; live memory in bytes: ${bytes}, ${left.bytes}`);
  return failures === 0 ? 0 : 1;
}
