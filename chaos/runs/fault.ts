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
 * A fault, and what must still hold. In a run (run-faults.ts) an installation under load meets it: inject, wait for
 * `lastsMs`, heal, wait until all work is done, check by all rules and by `expect`. README.md has an example.
 */
export interface Fault {
  name: `F${number}` | `F${number}-${string}`; // `F4-8s`: its id, and its variant where there are several.
  title: string;
  promises: readonly PromiseId[]; // The promises that it tests most; all rules apply anyway.
  /**
   * What is unavailable: for all processes, or for those that `affects` names. Calls may have an unknown outcome only without
   * Redis, its memory or an API; time-outs may be late and callbacks may be repeated only without Redis, its memory or a
   * scheduler; streams may be cut only without Redis or a gateway.
   */
  stops: readonly Stopped[];
  /** Codes that streams may be closed with anyway, during the fault or just after it. Default none. */
  closes?: readonly number[];
  lastsMs: number; // Time between injection and healing, milliseconds.
  installation?: InstallationOptions; // Where the installation differs from the usual one.
  drainMs?: number; // How long the drain may take, milliseconds. Default: run-faults.ts.
  /** Make it happen. @returns what heals it, if anything, which resolves once all is available again */
  inject(context: FaultContext): Promise<Heal | undefined>;
  /** Change what the rules look at: times of a clock that was wrong. Default nothing. */
  corrected?(record: Evidence): Evidence;
  expect?(run: Run): Finding[]; // What must hold beside the rules.
  forgotten?(run: Run): Span[]; // Spans whose effects may be undone; see forgotten.ts. Default none.
}

export type Heal = () => Promise<void>;

/** What else was measured, for the table of the run, by its name with the unit. */
export type Figures = Record<string, number>;

interface Surroundings {
  installation: Installation;
  history: History;
  stalls: Stalls;
  figures: Figures;
}

/** What a fault may use. */
export interface FaultContext extends Surroundings {
  random: Random; // From the seed of the run.
  load: Load;
  call: Caller; // Make a call that is written down, and checked like those of the load.
  /** Name the processes that are unavailable, or that cannot reach Redis, when these are not all. */
  affects(...apps: AppProcess[]): void;
  found(says: string, more?: Partial<Finding>): void; // Report what breaks a promise, in a sentence.
  /** Do this once all is drained, before the end is checked; also when the run fails earlier. */
  atEnd(act: () => Promise<void>): void;
}

/** A run that is over. */
export interface Run extends Surroundings {
  dump: Dump;
  outage: Outage;
}

/** `F4` */
export const idOf = ({ name }: Fault) => name.replace(/-.*/, '');

/** All faults, by their ids. */
export async function allFaults(): Promise<Fault[]> {
  const folder = new URL('../faults/', import.meta.url);
  const faults: Fault[] = [];
  for (const file of await readdir(fileURLToPath(folder))) faults.push(...(await import(`${folder}${file}`)).faults);
  const { compare } = new Intl.Collator('en', { numeric: true });
  return faults.sort((a, b) => compare(a.name, b.name));
}

export async function faultNamed(name: string): Promise<Fault> {
  const fault = (await allFaults()).find((one) => one.name === name);
  if (fault === undefined) throw new Error(`there is no fault ${name}`);
  return fault;
}
