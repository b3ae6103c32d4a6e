import type { Random } from '../../test/support/random.js';
import type { Installation } from '../installation/installation.js';
import { isScript } from '../installation/scripts.js';
import { allFaults, type Fault, idOf } from '../runs/fault.js';
import { loseNext } from '../runs/mutants.js';
import { repeat } from '../runs/waiting.js';

/** Faults that last at most twenty seconds and need no special installation. */
const MIXED =
  'F1 F2-before-sweep F2-after-sweep F2-before-record F2-after-record F3 F4-1.5s F10-5s F11-api-old-lost ' +
  'F11-gateway-old-lost F11-scheduler-old-lost F13-200ms F13-800ms F14 F18 F19 F22 F25 F27-published F29';

/** Faults that kill processes, but never the first process of each kind, so that it can be watched for an hour. */
const ENDING = ['F1', 'F2', 'F3', 'F25'];

/** A short form of F12: the reply to the next script of any process is lost. */
const lostReplies: Fault = {
  name: 'F12-any',
  title: 'replies of scripts are lost, with the connection',
  promises: ['P3', 'P12'],
  stops: ['redis'],
  lastsMs: 8_000,
  inject: async ({ installation: { apps }, random }) => repeat(100, () => loseNext(random.of(apps), isScript)),
};

/** Load the faults to mix. @returns function that draws some in an order given by the seed, each once before any repeats */
export async function mixFaults(random: Random): Promise<(count: number) => Fault[]> {
  const names = MIXED.split(' ');
  const all = [...(await allFaults()).filter(({ name }) => names.includes(name)), lostReplies];
  if (all.length !== names.length + 1) throw new Error('one of the faults to mix does not exist');
  let left: Fault[] = [];
  const next = () => {
    if (left.length === 0) left = [...all];
    return left.splice(random.below(left.length), 1)[0] as Fault;
  };
  return (count) => Array.from({ length: count }, next);
}

/** Return the part of an installation that a fault can use. */
export function viewFor(fault: Fault, installation: Installation): Installation {
  if (!ENDING.includes(idOf(fault))) return installation;
  const [apis, gateways, schedulers] = [installation.apis, installation.gateways, installation.schedulers].map((all) =>
    all.slice(1),
  ) as [Installation['apis'], Installation['apis'], Installation['apis']];
  return { ...installation, apis, gateways, schedulers, apps: [...apis, ...gateways, ...schedulers] };
}
