import { randomOf } from '../logs/random.js';
import { aftermathComplaints, memoryComplaints, peakComplaints, peakMegabytes } from './aftermath.js';
import { failureText } from './failures.js';
import { generate } from './generate.js';
import { Lane } from './lane.js';
import { type FuzzOptions, readOptions } from './options.js';
import type { FuzzRequest } from './request.js';
import { type FuzzedService, type Inspector, startFuzzed } from './service.js';
import { Tally } from './tally.js';

/** After so many failures the rest would tell nothing new. */
const MOST_FAILURES = 20;

/** An answer to a probe that takes longer than this comes from a process that does nothing else for as long. */
const LIVE_WITHIN_MS = 5_000;

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Requests that can stand behind one another on a connection. */
const isSimple = ({ framing, method, body, target }: FuzzRequest) =>
  framing.is === 'whole' &&
  !/Connection:/.test(framing.lines) &&
  method !== 'CONNECT' &&
  (body?.wire.length ?? 0) < 50_000 &&
  target.is !== 'unclear';

/** A request, and now and then some more that go with it in one go. */
function groupOf(seed: number, index: number): FuzzRequest[] {
  const first = generate(seed, index);
  const random = randomOf(seed ^ Math.imul(index, 0x27d4eb2f));
  if (!random.chance(0.04) || !isSimple(first)) return [first];
  const others = Array.from({ length: 1 + random.below(4) }, (_, i) => generate(seed + 1_000_003, index * 8 + i));
  return [first, ...others.filter(isSimple)];
}

class Run {
  readonly tally = new Tally();
  readonly failures: string[] = [];
  readonly memory: Awaited<ReturnType<Inspector['read']>>[] = [];
  slowestMs = 0;
  slowestLivezMs = 0;
  #next: number;

  constructor(
    readonly service: FuzzedService,
    readonly options: FuzzOptions,
  ) {
    this.#next = options.from;
  }

  /** Send requests until all are sent. */
  async work(lane: Lane): Promise<void> {
    const { from, requests } = this.options;
    while (this.#next < from + requests && this.failures.length < MOST_FAILURES) {
      const index = this.#next++;
      await this.#one(lane, index);
      const done = index + 1 - from;
      if (done % 500 === 0) await this.#probe();
      if (done === Math.floor(requests / 3) || done === Math.floor((2 * requests) / 3)) await this.look();
    }
  }

  async #one(lane: Lane, index: number): Promise<void> {
    const { seed } = this.options;
    const began = performance.now();
    const verdicts = await lane.send(groupOf(seed, index));
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    for (const verdict of verdicts) {
      this.tally.add(verdict);
      if (verdict.complaints.length === 0) continue;
      const text = await failureText(verdict, lane, { seed, index });
      this.failures.push(text);
      print(text);
    }
  }

  async #probe(): Promise<void> {
    const began = performance.now();
    const { status } = await this.service.http.call('GET', '/livez');
    const ms = performance.now() - began;
    this.slowestLivezMs = Math.max(this.slowestLivezMs, ms);
    if (status !== 200 || ms > LIVE_WITHIN_MS) this.failures.push(`/livez answered ${status} after ${ms} ms`);
  }

  /** See how much memory the API holds. */
  async look(): Promise<void> {
    this.memory.push(await this.service.inspector.read());
  }
}

function reportOf({ tally, memory, slowestMs, slowestLivezMs }: Run, seconds: number): string {
  const megabytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);
  return [
    tally.toString(),
    '',
    `${tally.requests} requests in ${seconds.toFixed(0)} s; refused for having too much to do: ${tally.overloads}`,
    `slowest answer, with what is read back: ${slowestMs.toFixed(0)} ms; slowest /livez: ${slowestLivezMs.toFixed(0)} ms`,
    `heap of the API after each third, MB: ${memory.map(({ heapBytes }) => megabytes(heapBytes)).join(', ')}; buffers: ${memory.map(({ externalBytes }) => megabytes(externalBytes)).join(', ')}`,
  ].join('\n');
}

/**
 * Send odd requests to a service of real processes, and see that each is answered as the specification says.
 *
 * @param args of the command line, see options.ts
 * @returns exit code: 0 when nothing was found
 */
export async function fuzz(args: string[], prepareInspector: () => Promise<Inspector>): Promise<number> {
  const options = readOptions(args);
  print(`seed ${options.seed}, requests ${options.from} to ${options.from + options.requests - 1}`);
  const service = await startFuzzed(await prepareInspector());
  try {
    const run = new Run(service, options);
    const began = performance.now();
    const lanes = Array.from({ length: options.lanes }, () => new Lane(service));
    await Promise.all(lanes.map((lane) => run.work(lane)));
    const seconds = (performance.now() - began) / 1_000;
    await Promise.all(lanes.map((lane) => lane.close()));
    await run.look();
    const peak = peakMegabytes(service);
    const after = [...memoryComplaints(run.memory), ...peakComplaints(peak), ...(await aftermathComplaints(service))];
    print(`${reportOf(run, seconds)}; most memory it ever had: ${peak.toFixed(0)} MB`);
    for (const complaint of after) print(`AFTERWARDS ${complaint}`);
    print(`${run.failures.length + after.length} failures (seed ${options.seed})`);
    return run.failures.length + after.length === 0 ? 0 : 1;
  } finally {
    await service.stop();
  }
}
