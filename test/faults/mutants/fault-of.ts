import { until } from '../../support/until.js';
import type { AppProcess } from '../app-process.js';
import { allFaults, type Fault, nameOf } from '../fault.js';
import { repeat } from '../repeat.js';
import { within } from '../within.js';
import type { MadeMutant, Mutant } from './mutant.js';

/** Between two lost replies of one process, and how long the next is waited for. */
const EVERY_MS = 150;
const WAIT_MS = 1_000;

/** So many that some of them are of jobs which owe a callback, or have steps: however slow the machine is. */
const ENOUGH = 40;
const ENOUGH_WITHIN_MS = 40_000;

/** How long the drain may take, of a mutant alone and under a fault: what is broken may never be done, milliseconds. */
const DRAIN_MS = 8_000;
const DRAIN_UNDER_MS = 20_000;

/** The fault that a mutant is put through. */
export async function faultOf(mutant: Mutant, made: MadeMutant): Promise<Fault> {
  if (mutant.under === undefined) return ownFaultOf(mutant, made);
  const fault = (await allFaults()).find((each) => nameOf(each) === mutant.under);
  if (fault === undefined) throw new Error(`there is no fault ${mutant.under}`);
  return { ...fault, installation: { ...fault.installation, root: made.root }, drainMs: DRAIN_UNDER_MS };
}

/** A fault that is the mutant's own: replies of some of its scripts are lost, or nothing but its own work goes wrong. */
function ownFaultOf({ title, breaks, loses = [] }: Mutant, made: MadeMutant): Fault {
  const hashes = new Set(loses.map(made.sha1Of));
  return {
    id: 'F0',
    title,
    promises: breaks,
    stops: loses.length > 0 ? ['redis'] : [],
    lastsMs: 3_000,
    installation: { root: made.root },
    drainMs: DRAIN_MS,
    async inject({ installation: { apis } }) {
      if (hashes.size === 0) return async () => undefined;
      let lost = 0;
      const losing = apis.map((api) =>
        repeat(EVERY_MS, async () => {
          if (await loseOne(api, hashes)) lost++;
        }),
      );
      return async () => {
        await until(() => lost >= ENOUGH, ENOUGH_WITHIN_MS).finally(() => Promise.all(losing.map((end) => end())));
      };
    },
  };
}

async function loseOne({ proxy }: AppProcess, hashes: ReadonlySet<string>): Promise<boolean> {
  const isOne = (words: string[]) => hashes.has(words[1] as string);
  const ambush = proxy.onNext(isOne, { does: 'swallow reply', end: 'cut' });
  const met = await within(WAIT_MS, ambush.happened);
  ambush.disarm();
  return met !== null;
}
