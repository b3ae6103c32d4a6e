import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { type LiveMemory, liveMemoryOf } from '../support/live-memory.js';
import { aftermathComplaints, memoryComplaints } from './aftermath.js';
import { anyRequests, nameOf } from './request.js';
import { startFuzzed } from './service.js';
import { send, type Trial } from './trial.js';

/** Requests in progress at once. */
const CONCURRENT_REQUESTS = 4;

/** Failures after which a run ends, because more would show nothing new. */
const MOST_FAILURES = 20;

/** Requests that are sent to shrink one failure. */
const SHRINK_TRIES = 200;

/** Bytes of a request that are shown. */
const SHOWN_BYTES = 1_500;

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Read the options. The same seed draws the same requests; the default is the date. `--short` is the set that CI runs. */
function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { seed: text, from: text, requests: text, short: { type: 'boolean' } } as const;
  const { short = false, ...given } = parseArgs({ args, options }).values;
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const texts = { seed: short ? '1' : today, from: '0', requests: short ? '3000' : '20000', ...given };
  const numbers = { seed: Number(texts.seed), from: Number(texts.from), requests: Number(texts.requests) };
  if (Object.values(numbers).every(Number.isSafeInteger)) return numbers;
  throw new Error('--seed, --from and --requests must be whole numbers');
}

const shown = ({ raw, complaints }: Trial) => [
  ...complaints.map((complaint) => `  ${complaint}`),
  `  sent: ${JSON.stringify(raw.toString('latin1', 0, SHOWN_BYTES))}${raw.length > SHOWN_BYTES ? ` … (${raw.length} bytes)` : ''}`,
];

/** Return the kind of a failure, without the parts that differ between requests. */
const kindOf = ({ complaints }: Trial) => complaints[0]?.slice(0, 24);

/** Describe a failure with the command that repeats it, and the smallest request that fails in the same way. */
function failureText(failed: Trial, smallest: Trial, { seed, index }: { seed: number; index: number }): string {
  const what = failed.requests.map(({ route, oddity, place }) => `${nameOf(route)} (odd: ${oddity}; job ${place})`);
  return [
    `FAILED ${what.join(', then ')}`,
    ...shown(failed),
    `  again: npm run test:long -- fuzz --seed ${seed} --from ${index} --requests 1`,
    ...(smallest === failed ? [] : ['  smaller:', ...shown(smallest)]),
  ].join('\n');
}

/**
 * Send unusual requests to a service of real processes, and check each response by the specification.
 *
 * @param args of the command line
 * @returns exit code: 0 without failures
 */
export async function fuzz(args: string[]): Promise<number> {
  const { seed, from, requests } = readOptions(args);
  print(`seed ${seed}, requests ${from} to ${from + requests - 1}`);
  const service = await startFuzzed();
  /** Of the API, after each third. */
  const memory: LiveMemory[] = [];
  /** Responses by status. */
  const responses: Record<number, number> = {};
  const count = (status: number) => {
    responses[status] = (responses[status] ?? 0) + 1;
  };
  let next = from;
  let failures = 0;

  /** Send the requests of a number; if they fail, fast-check sends smaller ones. */
  async function sendOne(index: number): Promise<void> {
    const failed: Trial[] = [];
    let tries = 0;
    const property = fc.asyncProperty(anyRequests, async (requests) => {
      if (tries++ > SHRINK_TRIES) return true;
      const trial = await send(service, requests);
      if (tries === 1) trial.statuses.forEach(count);
      const isFailure = trial.complaints.length > 0 && kindOf(failed[0] ?? trial) === kindOf(trial);
      if (isFailure) failed.push(trial);
      return !isFailure;
    });
    const run = await fc.check(property, { seed: Math.imul(seed + 1, 0x9e3779b1) ^ index, numRuns: 1 });
    if (!run.failed) return;
    if (failed.length === 0) throw run.errorInstance;
    failures++;
    print(failureText(failed[0] as Trial, failed.at(-1) as Trial, { seed, index }));
  }

  async function work(): Promise<void> {
    while (next < from + requests && failures < MOST_FAILURES) {
      const index = next++;
      await sendOne(index);
      if ((index + 1 - from) % Math.ceil(requests / 3) === 0) memory.push(await liveMemoryOf(service.api.output()));
    }
  }

  try {
    await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
    memory.push(await liveMemoryOf(service.api.output()));
    const after = [...memoryComplaints(memory), ...(await aftermathComplaints(service))];
    for (const complaint of after) print(`AFTERWARDS ${complaint}`);
    print(`responses by status: ${JSON.stringify(responses)}`);
    print(`${failures + after.length} failures (seed ${seed})`);
    return failures + after.length === 0 ? 0 : 1;
  } finally {
    await service.stop();
  }
}
