import { evidenceOf } from '../checker/checker.js';
import { startInstallation } from '../installation/installation.js';
import { type Fault, faultNamed } from './fault.js';
import { allMutants, faultFor, makeMutant } from './mutants.js';
import { countsOf, type Summary } from './report.js';
import { runFaults } from './run-faults.js';

/** A request for a run of a fault or a mutant. */
export interface Order {
  name: string;
  seed: number;
  rate: number; // Jobs created per second.
}

/** Start an installation, apply a fault to it, and check the record. */
export async function runOne(order: Order): Promise<Summary> {
  const mutant = (await allMutants()).find(({ name }) => name === order.name);
  if (mutant === undefined) return runFault(await faultNamed(order.name), order);
  const made = await makeMutant(mutant);
  try {
    return { ...(await runFault(await faultFor(mutant, made), order)), title: mutant.title, breaks: mutant.breaks };
  } finally {
    await made.remove();
  }
}

async function runFault(fault: Fault, { name, seed, rate }: Order): Promise<Summary> {
  const installation = await startInstallation(fault.installation);
  try {
    const { record, ...outcome } = await runFaults(installation, [fault], { seed, rate, name: `${seed}-${name}` });
    return { name, title: fault.title, seed, counts: countsOf(evidenceOf(record)), ...outcome };
  } finally {
    await installation.stop();
  }
}
