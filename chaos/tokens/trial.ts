import { parseArgs } from 'node:util';
import { Random } from '../../test/support/random.js';
import { evidenceOf } from '../checker/checker.js';
import { dump } from '../checker/dump.js';
import { History } from '../checker/history.js';
import { type Installation, startInstallation } from '../installation/installation.js';
import { createClients } from '../load/client.js';
import { RULES } from '../rules/all.js';
import type { Evidence, Finding } from '../rules/rule.js';
import { allMutants, makeMutant } from '../runs/mutants.js';
import { markdown } from '../runs/report.js';

/** What a trial of many calls with delivery tokens uses. */
export interface Trial {
  installation: Installation;
  history: History;
  random: Random;
  call: ReturnType<typeof createClients>['call'];
  root: string | undefined; // Folder of the copy that breaks a promise, if any.
  wanted: number; // How many cases to produce.
  isLate(graceMs?: number): boolean; // Whether the time for the trial is over, and this time more.
  text(): string; // A text that no other call sends, so that its effect can be found.
}

/** The result of a trial. */
export interface Result {
  rows: readonly (readonly unknown[])[]; // A table with its head.
  faults: readonly string[]; // Sentences.
}

/** All that a result is made of. */
export interface Checked {
  evidence: Evidence;
  violations: readonly Finding[];
  wanted: number;
}

export interface TrialOptions {
  option: string; // Name of the option with the number of cases.
  byDefault: number;
  env: Record<string, string>; // Variables of every process.
  act(trial: Trial): Promise<void>;
  /** Make the result, once all stored data is read and checked. */
  report(checked: Checked): Result;
}

const MINUTES = 20; // After which a trial ends in any case.

/** Rules of the fault suite that judge a trial. The others concern streams, callbacks, and times during one outage. */
const NAMES = ['creates', 'claims', 'claimed-job', 'histories', 'effects', 'fencing', 'deliveries', 'fsck'];

const print = (text: string) => process.stdout.write(`${text}\n`);

/** Run a trial on an installation of its own, and check its history and the stored data. @returns the exit code */
export async function runTrial(args: string[], { option, byDefault, env, act, report }: TrialOptions): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args, options: { [option]: text, seed: text, minutes: text, mutant: text } });
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * 999_999));
  const began = Date.now();
  const end = began + Number(values.minutes ?? MINUTES) * 60_000;
  const made = await copyOf(values.mutant);
  const installation = await startInstallation({ gateways: 0, env, ...(made && { root: made.root }) }).catch(
    async (error) => {
      await made?.remove();
      throw error;
    },
  );
  const history = new History();
  const { call, close } = createClients(installation, history);
  const wanted = Number(values[option] ?? byDefault);
  let texts = 0;
  try {
    await act({
      ...{ installation, history, call, root: made?.root, random: new Random(seed) },
      ...{ wanted, isLate: (graceMs = 0) => Date.now() > end + graceMs, text: () => `text-${++texts}` },
    });
    for (const scheduler of installation.schedulers) scheduler.pause(); // Nothing must change while all keys are read.
    const stored = await dump(installation.store);
    const outage = { from: began, until: Date.now(), stops: ['redis'], affected: [], closes: [] } as const;
    const { entries } = history;
    const evidence = evidenceOf({ entries, dump: stored, outages: [outage], settings: installation.settings });
    const violations = RULES.filter(({ name }) => NAMES.includes(name)).flatMap(({ check }) => check(evidence));
    const { rows, faults } = report({ evidence, violations, wanted });
    const all = [...faults, ...violations.map(({ jobId, says }) => `${jobId ?? ''} ${says}`)];
    print(`\n${markdown(rows)}\n`);
    for (const fault of all.slice(0, 20)) print(fault);
    const seconds = Math.round((Date.now() - began) / 1_000);
    print(
      `${evidence.dump.jobs.length} jobs, ${evidence.calls.length} calls, ${seconds} s, seed ${seed}: ${all.length} faults`,
    );
    return all.length === 0 ? 0 : 1;
  } finally {
    close();
    await installation.stop();
    await made?.remove();
  }
}

/** Make the copy of the service that a mutant describes; undefined without a name. */
async function copyOf(name: string | undefined) {
  if (name === undefined) return undefined;
  const mutant = (await allMutants()).find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  return makeMutant(mutant);
}
