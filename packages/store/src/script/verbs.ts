import type { SendCall, Store } from '../store.js';
import { evaluate, throwIfRefused } from './run-script.js';
import type { Place, ScriptArgument, Verb, VerbCall, VerbInputs } from './script.js';
import { group } from './scripts.generated.js';

// A verb is a file in lua/verbs. A call of one verb runs the verb's own script. A call of several verbs, or several calls
// together, run the script `group`, which contains all verbs.

/** Bind a verb to its arguments. */
export const withInputs = <Inputs, Reply>(verb: Verb<Inputs, Reply>, inputs: NoInfer<Inputs>): VerbInputs<Reply> => ({
  verb,
  parameters: verb.parameters(inputs),
});

/**
 * Carry out one verb, alone or in a group of others. When no reply comes, it is never sent again.
 *
 * @param jobs how many jobs it may touch; 1 when left out
 * @returns the decoded reply
 * @throws as runScript
 */
export async function runVerb<Reply>(
  store: Store,
  { base, space, notAfter = '' }: Place,
  inputs: VerbInputs<Reply>,
  jobs = 1,
): Promise<Reply> {
  const sentAt = performance.now();
  const [reply] = await store.send(store, { base, space, notAfter, verbs: [inputs], jobs });
  throwIfRefused(store, reply as unknown[], sentAt);
  return inputs.verb.decode(reply as unknown[]);
}

/** Send a call at once. */
export const sendAlone: SendCall = async (store, call) => (await sendCalls(store, [call]))[0] as unknown[][];

/** Return the store with its calls on the bulk connection. */
export const onBulk = (store: Store): Store => ({ ...store, redis: store.bulk, send: sendAlone });

/** Return the arguments of a verb. */
const argumentsOf = ({ verb, parameters }: VerbInputs, notAfter: number | '') =>
  verb.hasDeadline ? [notAfter, ...parameters] : parameters;

/** Send calls in one script: that of the verb, if there is only one. @returns the replies of each call */
export async function sendCalls(store: Store, calls: readonly VerbCall[]): Promise<unknown[][][]> {
  const [first] = calls as [VerbCall];
  const [only] = first.verbs as [VerbInputs];
  if (calls.length === 1 && first.verbs.length === 1) {
    const parameters = [first.base, first.space, ...argumentsOf(only, first.notAfter ?? '')];
    return [[await evaluate(store, only.verb, parameters)]];
  }
  const sentAt = performance.now();
  const reply = await evaluate(store, group, groupParameters(calls));
  throwIfRefused(store, reply, sentAt);
  let at = 1;
  const next = () => {
    const from = at + 1;
    at = from + (reply[at] as number);
    return reply.slice(from, at);
  };
  return calls.map(({ verbs }) => verbs.map(next));
}

/** Return the parameters of group.lua. */
function groupParameters(calls: readonly VerbCall[]): ScriptArgument[] {
  const used = new Set<string>();
  const bases = new Set<string>();
  let count = 0;
  const parameters: ScriptArgument[] = [(calls[0] as VerbCall).base, '', ''];
  let place: Place | undefined;
  for (const call of calls) {
    const { base, space, notAfter = '', verbs, stopsAtRefusal } = call;
    if (place?.base !== base || place.space !== space) parameters.push('@', base, space);
    place = call;
    bases.add(base);
    count += verbs.length;
    const isOne = verbs.length === 1;
    if (!isOne) parameters.push('+', notAfter, stopsAtRefusal ? -verbs.length : verbs.length);
    for (const one of verbs) {
      const own = argumentsOf(one, isOne ? notAfter : '');
      used.add(one.verb.name);
      parameters.push(one.verb.name, own.length, ...own);
    }
  }
  // Jobs of one partition are likely to be of one space.
  parameters[1] = bases.size * 4 <= count ? '1' : '';
  parameters[2] = [...used].join(' ');
  return parameters;
}
