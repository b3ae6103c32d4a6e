import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { allFaults, idOf } from './fault.js';
import { allMutants } from './mutants.js';
import { type Options, optionsOf } from './options.js';
import { describe, isGood, type Summary, tables } from './report.js';
import type { Order } from './run-one.js';

const RUN_MS = 900_000; // A run that takes longer has hung.
const print = (text: string) => process.stdout.write(`${text}\n`);

/** Make all selected runs, some in parallel, and print their results. @returns the exit code */
export async function runAll(args: string[]): Promise<number> {
  const options = optionsOf(args);
  const orders = await ordersOf(options);
  const { seed, rate, workers } = options;
  print(`${orders.length} runs, seed ${seed}, ${rate} jobs per second, ${workers} in parallel`);
  const waiting = [...orders].sort((a, b) => Number(isLong(b)) - Number(isLong(a)));
  const runs = new Map<Order, Summary>();
  const failed: string[] = [];

  async function work(): Promise<void> {
    for (let order = waiting.shift(); order !== undefined; order = waiting.shift()) {
      const began = Date.now();
      const { summary, error } = await runUntilSeen(order);
      const text = summary ? describe(summary) : `${order.name}: the run failed: ${error}`;
      if (summary) runs.set(order, summary);
      if (!summary || !isGood(summary)) failed.push(text);
      print(`${Math.round((Date.now() - began) / 1_000)} s  ${text}`);
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  print(tables(orders.flatMap((order) => runs.get(order) ?? [])));
  if (failed.length > 0) print(`Failed:\n${failed.join('\n')}`);
  print(`${orders.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 && orders.length > 0 ? 0 : 1;
}

/** The longest faults start first, so that no worker is idle at the end. */
const isLong = ({ name }: Order) => /^F(12|21|23|24)/.test(name);

async function ordersOf({ seed, rate, only, tenth, repeat }: Options): Promise<Order[]> {
  const isWanted = (...names: string[]) => only.length === 0 || names.some((name) => only.includes(name));
  // With more than ten mutants, each tenth has one, and a checker that reports nothing is noticed.
  const isDrawn = (_: unknown, index: number) => tenth === null || index % 10 === tenth - 1;
  const faults = (await allFaults()).filter((fault) => isWanted(fault.name, idOf(fault))).filter(isDrawn);
  const mutants = (await allMutants()).filter(({ name }) => isWanted(name, 'mutants')).filter(isDrawn);
  const seeds = Array.from({ length: repeat }, (_, nth) => seed + nth);
  return seeds.flatMap((of) => [...faults, ...mutants].map(({ name }) => ({ name, seed: of, rate })));
}

type Reply = { summary?: Summary; error?: string };

/** Make a run. The fault of a mutant does not show in every run, so an unnoticed mutant gets two more runs with other seeds. */
async function runUntilSeen(order: Order): Promise<Reply> {
  for (let seed = order.seed; ; seed++) {
    const reply = await runIn({ ...order, seed });
    const isUnseen = /^\d/.test(order.name) && reply.summary !== undefined && !isGood(reply.summary);
    if (!isUnseen || seed === order.seed + 2) return reply;
  }
}

/** Make a run in a new process, which stops all processes that it started. */
async function runIn(order: Order): Promise<Reply> {
  const worker = fork(fileURLToPath(new URL('./worker.mjs', import.meta.url)));
  const timer = setTimeout(() => worker.kill(), RUN_MS);
  const exit = once(worker, 'exit').then(([code, signal]): Reply => ({ error: `it ended with ${code ?? signal}` }));
  worker.send(order);
  const reply = await Promise.race([once(worker, 'message').then(([message]): Reply => message), exit]);
  clearTimeout(timer);
  if (worker.connected) worker.disconnect();
  await exit;
  return reply;
}
