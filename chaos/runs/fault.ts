import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Random } from '../../test/support/random.js';
import type { Record as Evidence } from '../checker/checker.js';
import type { Dump } from '../checker/dump.js';
import type { Body, Call, Callback, History, Operation } from '../checker/history.js';
import type { Span, Stalls } from '../checker/stalls.js';
import type { AppProcess } from '../installation/app-process.js';
import type { Installation, InstallationOptions } from '../installation/installation.js';
import type { Caller } from '../load/client.js';
import type { Load } from '../load/load.js';
import type { Finding, Outage, PromiseId, Stopped } from '../rules/rule.js';

export type { AppProcess, Body, Call, Callback, Finding, History, Installation, Operation };

/**
 * A fault and its checks. A run (run-faults.ts) applies it to an installation under load: inject, wait for `lastsMs`, heal,
 * wait until all work is done, then check with all rules and `expect`. README.md has an example.
 */
export interface Fault {
  name: `F${number}` | `F${number}-${string}`; // Its ID, followed by the variant if there are several: `F4-8s`.
  title: string;
  promises: readonly PromiseId[]; // Promises that it mainly tests; all rules apply in any case.
  /**
   * Parts that are unavailable to all processes, or to those that `affects` names. Without Redis, its memory or an API, calls may
   * have an unknown outcome. Without Redis, its memory or a scheduler, timeouts may be late and callbacks repeated. Without
   * Redis or a gateway, streams may be cut. Otherwise, none of these must happen.
   */
  stops: readonly Stopped[];
  /** Other close codes of streams, during the fault or just after it. Default none. */
  closes?: readonly number[];
  lastsMs: number; // Time between injection and healing, milliseconds.
  installation?: InstallationOptions; // Differences from the default installation.
  drainMs?: number; // How long the drain may make no progress, milliseconds. Default: see run-faults.ts.
  /** Inject the fault. @returns function that heals it and resolves once all parts are available again */
  inject(context: FaultContext): Promise<Heal | undefined>;
  /** Correct the record for the rules, such as times of a wrong clock. Default unchanged. */
  corrected?(record: Evidence): Evidence;
  expect?(run: Run): Finding[]; // Additional checks.
  undone?(run: Run): Span[]; // Spans whose effects may be undone; see undone.ts. Default none.
}

export type Heal = () => Promise<void>;

/** Additional measurements for the table of the run, by name with unit. */
export type Figures = Record<string, number>;

interface RunParts {
  installation: Installation;
  history: History;
  stalls: Stalls;
  figures: Figures;
}

/** The parts of a run that a fault can use. */
export interface FaultContext extends RunParts {
  random: Random; // Seeded with the seed of the run.
  load: Load;
  call: Caller; // Make a call, which is recorded and checked like those of the load.
  /** Name the processes that are unavailable or cannot reach Redis. Default all. */
  affects(...apps: AppProcess[]): void;
  found(says: string, more?: Partial<Finding>): void; // Report a broken promise in one sentence.
  /** Run this after the drain and before the checks, even if the run fails earlier. */
  atEnd(act: () => Promise<void>): void;
}

/** A finished run. */
export interface Run extends RunParts {
  dump: Dump;
  outage: Outage;
}

/** Return the ID of a fault without its variant: `F4`. */
export const idOf = ({ name }: Fault) => name.replace(/-.*/, '');

/** Load all faults, ordered by ID. */
export async function allFaults(): Promise<Fault[]> {
  const folder = new URL('../faults/', import.meta.url);
  const faults: Fault[] = [];
  const files = (await readdir(fileURLToPath(folder), { recursive: true })).filter((file) => file.endsWith('.ts'));
  for (const file of files) faults.push(...(await import(`${folder}${file}`)).faults);
  const { compare } = new Intl.Collator('en', { numeric: true });
  return faults.sort((a, b) => compare(a.name, b.name));
}

export async function faultNamed(name: string): Promise<Fault> {
  const fault = (await allFaults()).find((one) => one.name === name);
  if (fault === undefined) throw new Error(`unknown fault ${name}`);
  return fault;
}
