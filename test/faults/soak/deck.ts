import type { Random } from '../../logs/random.js';
import { allFaults, type Fault, nameOf } from '../fault.js';
import type { Installation } from '../installation.js';
import { lostReplies } from './lost-replies.js';

/** Those that are over in twenty seconds and need no installation of their own; the rest is for `npm run test:faults`. */
const MIXED = [
  'F1',
  'F2-before-sweep',
  'F2-after-sweep',
  'F2-before-record',
  'F2-after-record',
  'F3',
  'F4-1.5s',
  'F10-5s',
  'F11-api-stranded',
  'F11-gateway-stranded',
  'F11-scheduler-stranded',
  'F13-200ms',
  'F13-800ms',
  'F14',
  'F18',
  'F19',
  'F22',
  'F25',
  'F27-heard',
  'F29',
];

/** Those that end processes: they get to see only some, since one that is ended cannot be watched for an hour. */
const ENDING = ['F1', 'F2', 'F3', 'F25'];

/** Faults in an order that the seed decides: each once before any comes again. */
export interface Deck {
  draw(count: number): Fault[];
}

export async function createDeck(random: Random): Promise<Deck> {
  const all = [...(await allFaults()).filter((fault) => MIXED.includes(nameOf(fault))), lostReplies];
  if (all.length !== MIXED.length + 1) throw new Error('there is no such fault as one of those to mix');
  let left: Fault[] = [];
  const next = () => {
    if (left.length === 0) left = [...all];
    return left.splice(random.below(left.length), 1)[0] as Fault;
  };
  return { draw: (count) => Array.from({ length: count }, next) };
}

/** An installation as a fault may see it: the first process of each kind is left in peace by those that end processes. */
export function viewOf(fault: Fault, installation: Installation): Installation {
  if (!ENDING.includes(fault.id)) return installation;
  const [apis, gateways, schedulers] = [installation.apis, installation.gateways, installation.schedulers].map((all) =>
    all.slice(1),
  ) as [Installation['apis'], Installation['gateways'], Installation['schedulers']];
  return { ...installation, apis, gateways, schedulers, apps: [...apis, ...gateways, ...schedulers] };
}
