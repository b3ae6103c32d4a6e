import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Random } from '../logs/random.js';
import type { AppProcess } from './app-process.js';
import type { Caller } from './client.js';
import type { Dump } from './dump.js';
import type { History } from './history.js';
import type { Installation, InstallationOptions } from './installation.js';
import type { Lag } from './lag.js';
import type { Load } from './load/load.js';
import type { Found, Outage, PromiseId, Stopped } from './rules/rule.js';

/**
 * A fault, and what must hold all the same. The course of each (course.ts): start an installation, put load on it, inject;
 * the load goes on for `lastsMs`; heal; wait until all work is done; judge by all rules, and by `expect`.
 *
 *   export const faults: Fault[] = [{
 *     id: 'F10',
 *     title: 'Redis is paused',
 *     promises: ['P12'],
 *     stops: ['redis'],
 *     lastsMs: 15_000,
 *     async inject({ installation }) {
 *       installation.pauseRedis();
 *       return async () => installation.continueRedis();
 *     },
 *   }];
 *
 * Each file of faults/ exports such an array, and is found by being there.
 */
export interface Fault {
  id: `F${number}`;
  /** Tells faults of one id apart: `F4` runs all of them, `F4-8s` one. */
  variant?: string;
  title: string;
  /** Those that it puts to the test most; all rules are applied in any case. */
  promises: readonly PromiseId[];
  /**
   * What is away while it lasts: for all, or, when it says so (`hits`), for some processes. Only while Redis, its room or an
   * API is away may calls be of unknown outcome, only while Redis, its room or a scheduler is may time-outs be late or
   * callbacks come again, and only while Redis or a gateway is may streams be closed before their end.
   */
  stops: readonly Stopped[];
  /** Codes that streams may be closed with all the same, while it lasts or just after. Default none. */
  closes?: readonly number[];
  /** Between injection and healing, milliseconds. */
  lastsMs: number;
  /** Other than usual. */
  installation?: InstallationOptions;
  /** How long the drain may take, milliseconds. Default 45 000. */
  drainMs?: number;
  /** Make it happen. @returns what heals it, which resolves once what was away is back */
  inject(ground: Ground): Promise<Heal>;
  /** What must hold beside the rules. */
  expect?(run: Run): Found[];
  /** Spans whose answers may be forgotten again; see checker.ts. Default none. */
  forgotten?(run: Run): { from: number; until: number }[];
}

export type Heal = () => Promise<void>;

/** What a fault may work with. */
export interface Ground {
  installation: Installation;
  /** Of the run's seed. */
  random: Random;
  history: History;
  lag: Lag;
  load: Load;
  /** Make a call that is written down, and judged like those of the load. */
  call: Caller;
  /** Tell which processes are away, or have Redis away from them, when not all are. */
  hits(...apps: AppProcess[]): void;
  /** Report what breaks a promise by itself. */
  found(what: Found): void;
  /** Do this once all is drained and quiet, before the end is looked at; also when the run fails before. */
  atEnd(act: () => Promise<void>): void;
  figures: Figures;
}

/** What else was measured, for the table: by what it is called there, its unit included. */
export type Figures = Record<string, number>;

/** A run that is over. */
export interface Run {
  installation: Installation;
  history: History;
  lag: Lag;
  dump: Dump;
  outage: Outage;
  /** Those of the ground, and whatever `expect` adds. */
  figures: Figures;
}

/** `F4-8s`. */
export const nameOf = ({ id, variant }: Fault) => (variant === undefined ? id : `${id}-${variant}`);

/** All faults that there are, in their order. */
export async function allFaults(): Promise<Fault[]> {
  const folder = new URL('./faults/', import.meta.url);
  const files = (await readdir(fileURLToPath(folder))).filter((file) => /^f\d+.*\.ts$/.test(file)).sort();
  const faults: Fault[] = [];
  // One after the other: jest loses its way among imports that it links at once.
  for (const file of files) faults.push(...(await import(new URL(file, folder).href)).faults);
  return faults;
}
