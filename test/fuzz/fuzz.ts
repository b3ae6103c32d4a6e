import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { aftermathComplaints, type Memory, memoryComplaints } from './aftermath.js';
import { anyRequests, nameOf } from './request.js';
import { type Inspector, startFuzzed } from './service.js';
import { send, type Trial } from './trial.js';

/** Requests under way at once. */
const LANES = 4;

/** After so many failures the rest would show nothing new. */
const MOST_FAILURES = 20;

/** Requests that are sent to make one failure smaller. */
const TRIES = 200;

/** So much of a request is shown. */
const SHOWN_BYTES = 1_500;

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Same seed, same requests: by default those of the day. `--short` is the set that CI runs. */
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

/** What is complained about, without what differs from one request to the next. */
const kindOf = ({ complaints }: Trial) => complaints[0]?.slice(0, 24);

/** Show a failure in a way that it can be sent again, and the smallest that failed likewise. */
function failureText(failed: Trial, smallest: Trial, { seed, index }: { seed: number; index: number }): string {
  const what = failed.requests.map(({ route, oddity, place }) => `${nameOf(route)} (odd: ${oddity}; job ${place})`);
  return [
    `FAILED ${what.join(', then ')}`,
    ...shown(failed),
    `  again: npm run test:fuzz -- --seed ${seed} --from ${index} --requests 1`,
    ...(smallest === failed ? [] : ['  smaller:', ...shown(smallest)]),
  ].join('\n');
}

/**
 * Send odd requests to a service of real processes, and see that each is answered as the specification says.
 *
 * @param args of the command line
 * @returns exit code: 0 when nothing was found
 */
export async function fuzz(args: string[], prepareInspector: () => Promise<Inspector>): Promise<number> {
  const { seed, from, requests } = readOptions(args);
  print(`seed ${seed}, requests ${from} to ${from + requests - 1}`);
  const inspector = await prepareInspector();
  const service = await startFuzzed(inspector);
  /** Of the API, after each third. */
  const memory: Memory[] = [];
  /** Answers by status. */
  const responses: Record<number, number> = {};
  const count = (status: number) => {
    responses[status] = (responses[status] ?? 0) + 1;
  };
  let next = from;
  let failures = 0;

  /** Send what a number stands for; when it fails, fast-check sends smaller ones. */
  async function sendOne(index: number): Promise<void> {
    const failed: Trial[] = [];
    let tries = 0;
    const property = fc.asyncProperty(anyRequests, async (requests) => {
      if (tries++ > TRIES) return true;
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
      if ((index + 1 - from) % Math.ceil(requests / 3) === 0) memory.push(await inspector.read());
    }
  }

  try {
    await Promise.all(Array.from({ length: LANES }, work));
    memory.push(await inspector.read());
    const after = [...memoryComplaints(memory), ...(await aftermathComplaints(service))];
    for (const complaint of after) print(`AFTERWARDS ${complaint}`);
    print(`answers by status: ${JSON.stringify(responses)}`);
    print(`${failures + after.length} failures (seed ${seed})`);
    return failures + after.length === 0 ? 0 : 1;
  } finally {
    await service.stop();
  }
}
