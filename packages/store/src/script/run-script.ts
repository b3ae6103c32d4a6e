import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCode, SPACE_FULL_OF_BYTES, type Status, YardmasterError } from '@yardmaster/protocol';
import { Cluster } from 'ioredis';
import { call, callError } from '../call.js';
import { carriedOutWithinMs, type SendCall, type Store, type StoreSettings } from '../store.js';
import { followingManualClock } from './manual-clock.js';
import type { Place, Script, ScriptArgument, Verb, VerbCall, VerbInputs } from './script.js';
import { group } from './scripts.generated.js';

/**
 * Run a script once. It is not retried when the reply is lost, because the script may have run.
 *
 * @returns the decoded reply, with an `outcome` if the script declares several
 * @throws the error code that the script returned, with the job's status if it returned one; UNAVAILABLE; STORAGE_FULL
 */
export async function runScript<Inputs, Reply>(
  store: Store,
  script: Script<Inputs, Reply>,
  inputs: NoInfer<Inputs>,
): Promise<Reply> {
  const sentAt = performance.now();
  const parameters = script.parameters(inputs);
  const { reply, confirmed } = await evaluateAndConfirm(store, script, parameters, script.isReplicated);
  throwIfRefused(store, reply, sentAt);
  await confirmationOf(store, confirmed);
  return script.decode(reply);
}

/** Return the confirmation that a verb must await; null for none, or when the caller of the verbs awaits it. */
export function confirmationOf({ unconfirmed }: Store, confirmed: Promise<void> | null): Promise<void> | null {
  if (confirmed === null || unconfirmed === null) return confirmed;
  unconfirmed.push(confirmed);
  return null;
}

/** Reply of a script, and the confirmation by a replica if its caller waits for one. */
interface Confirmed<T> {
  reply: T;
  confirmed: Promise<void> | null;
}

/** Send a script, and start waiting for a replica if the script and the store require it. @throws as evaluate */
async function evaluateAndConfirm(
  store: Store,
  script: Parameters<typeof evaluate>[1],
  parameters: ScriptArgument[],
  isReplicated: boolean,
): Promise<Confirmed<unknown[]>> {
  const { replicated, keys } = store;
  if (replicated === null || !isReplicated)
    return { reply: await evaluate(store, script, parameters), confirmed: null };
  const barrier = keys.barrierFor(String(parameters[0]));
  const written = await replicated.write(barrier, (redis) => evaluate({ ...store, redis }, script, parameters));
  const confirmed = call(store, 'wait', written.confirmed);
  confirmed.catch(() => undefined); // A refusal does not await it.
  return { ...written, confirmed };
}

/** Throw the error that a script has replied with, if any. @param sentAt when its caller sent it, by `performance.now()` */
export function throwIfRefused(store: Store, reply: readonly unknown[], sentAt: number): void {
  const word = reply[0] as string;
  if (word === 'STORAGE_FULL') store.observer.failed('full');
  if (word === 'TOO_LATE') {
    // The script did nothing, because its deadline had passed.
    const earlyMs = carriedOutWithinMs(store) - (performance.now() - sentAt);
    if (earlyMs > 0) store.known.clock.reportTooLate(earlyMs);
    throw new YardmasterError('OVERLOADED');
  }
  if (word === SLOT_MOVING) {
    store.observer.failed('busy');
    throw new YardmasterError('UNAVAILABLE', undefined, {}, { cause: new Error(String(reply[1])) });
  }
  if (word === 'SPACE_FULL' && reply[1] === 'bytes') throw new YardmasterError(word, SPACE_FULL_OF_BYTES);
  if (word === 'ERROR') throw callError(store.observer, new Error(String(reply[1])));
  if (word in ERRORS) {
    // After an error code, a script can return the status of the job, and a hint.
    const [, status, hint] = reply;
    const extras = {
      ...(typeof status === 'string' && { jobStatus: status as Status }),
      ...(typeof hint === 'string' && { hint }),
    };
    throw new YardmasterError(word as ErrorCode, undefined, extras);
  }
}

/** Send a script and return its reply. @throws UNAVAILABLE; STORAGE_FULL; any other Redis error, which is a bug */
export async function evaluate(
  store: Store,
  script: Pick<Script<never, unknown>, 'name' | 'text' | 'keyCount'>,
  parameters: ScriptArgument[],
): Promise<unknown[]> {
  const { redis, observer } = store;
  const { sha1, text } = textOn(store, script);
  const began = performance.now();
  try {
    return (await redis.evalsha(sha1, script.keyCount, ...parameters)) as unknown[];
  } catch (error) {
    // Redis forgets scripts at a restart or a SCRIPT FLUSH. NOSCRIPT means that nothing ran, so sending it is safe.
    if (!isNoScript(error)) throw callError(observer, error);
    return (await redis.eval(text, script.keyCount, ...parameters).catch((again: unknown) => {
      throw callError(observer, again);
    })) as unknown[];
  } finally {
    // This repeats `call`, which would cost two more promises per script.
    observer.called(script.name, performance.now() - began);
  }
}

const isNoScript = (error: unknown) => error instanceof Error && error.message.startsWith('NOSCRIPT');

/** Text of a script as sent to Redis, and its hash. */
interface ScriptText {
  sha1: string;
  text: string;
}

/**
 * Lua that stops a script while its slot moves to another node. During the move, the keys of a job can be on different
 * nodes. Redis checks that key by key, so a script would stop halfway, after its first writes. Two keys that never exist
 * detect it beforehand: both the source and the target node refuse a command with both. The first key must have a hash
 * tag, so that these two keys are in its slot.
 */
const SLOT_GUARD = `local probe = redis.pcall('EXISTS', KEYS[1] .. '?1', KEYS[1] .. '?2')
if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end
`;

/** First word of the reply of a script that did nothing because its slot is moving. */
export const SLOT_MOVING = 'SLOT_MOVING';

/** Settings inserted into scripts as constants, so that calls need not send them. */
const CONSTANTS: Record<string, keyof StoreSettings> = {
  EVENTS_PER_JOB: 'eventsPerJob',
  EVENT_BYTES_PER_JOB: 'eventBytesPerJob',
  LOGS_PER_JOB: 'logsPerJob',
  KEYS_PER_SPACE: 'keysPerSpace',
  SCHEDULES_PER_SPACE: 'schedulesPerSpace',
  LOG_BYTES_PER_JOB: 'logBytesPerJob',
  RETENTION_MS: 'retentionMs',
  DELIVERY_TIMEOUT_MS: 'deliveryTimeoutMs',
  MAX_DELIVERIES: 'maxDeliveries',
};

/** Texts of the scripts, by the settings of a store. */
const texts = new WeakMap<StoreSettings, Map<object, ScriptText>>();

/**
 * Return the text of a script for this store. For a cluster, the text uses sharded pub/sub, because PUBLISH would send
 * every event to every node, and has a guard against a moving slot. With a manual clock, the text reads that clock.
 */
export function textOn(store: Store, script: { text: string }): ScriptText {
  const ofStore = texts.get(store.settings) ?? new Map<object, ScriptText>();
  texts.set(store.settings, ofStore);
  const known = ofStore.get(script);
  if (known !== undefined) return known;
  const text = withSettings(onRedis(script.text, store), store.settings);
  const made = { sha1: createHash('sha1').update(text).digest('hex'), text };
  ofStore.set(script, made);
  return made;
}

const withSettings = (text: string, settings: StoreSettings): string =>
  text.replaceAll(/\b[A-Z_]+\b/g, (word) => String(CONSTANTS[word] === undefined ? word : settings[CONSTANTS[word]]));

function onRedis(text: string, { redis, keys, settings }: Store): string {
  if (settings.isClockManual) return followingManualClock(text, keys.manualClock);
  if (!(redis instanceof Cluster)) return text;
  return SLOT_GUARD + text.replaceAll("call('PUBLISH',", "call('SPUBLISH',").replaceAll("'NUMSUB'", "'SHARDNUMSUB'");
}

// A verb is a file in lua/verbs. A single call of a single verb runs the script of that verb. Anything else runs the script
// `group`, which contains all verbs.

/** Bind a verb to its arguments. */
export const withInputs = <Inputs, Reply>(verb: Verb<Inputs, Reply>, inputs: NoInfer<Inputs>): VerbInputs<Reply> => ({
  verb,
  parameters: verb.parameters(inputs),
});

/**
 * Run one verb, alone or in a group with others. It is not retried when the reply is lost.
 *
 * @param jobs maximum number of jobs that it can change. Default 1
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

/** Send a call immediately and alone. */
export const sendAlone: SendCall = async (store, call) => {
  const { reply, confirmed } = await sendCalls(store, [call]);
  if (isReplicated(call)) await confirmationOf(store, confirmed);
  return reply[0] as unknown[][];
};

/** Check whether a call waits for a replica with DURABILITY=replicated. */
export const isReplicated = ({ verbs }: VerbCall): boolean => verbs.some(({ verb }) => verb.isReplicated);

/** Return a copy of the store that uses the bulk connection. */
export const onBulk = (store: Store): Store => ({ ...store, redis: store.bulk, send: sendAlone });

/** Return the arguments of a verb, including its deadline. */
const argumentsOf = ({ verb, parameters }: VerbInputs, notAfter: number | '') =>
  verb.hasDeadline ? [notAfter, ...parameters] : parameters;

/** Send calls in one script: `group`, or the verb's own if there is only one verb. @returns the replies of each call */
export async function sendCalls(store: Store, calls: readonly VerbCall[]): Promise<Confirmed<unknown[][][]>> {
  const [first] = calls as [VerbCall];
  const [only] = first.verbs as [VerbInputs];
  if (calls.length === 1 && first.verbs.length === 1) {
    const parameters = [first.base, first.space, ...argumentsOf(only, first.notAfter ?? '')];
    const { reply, confirmed } = await evaluateAndConfirm(store, only.verb, parameters, only.verb.isReplicated);
    return { reply: [[reply]], confirmed };
  }
  const sentAt = performance.now();
  const { reply, confirmed } = await evaluateAndConfirm(store, group, groupParameters(calls), calls.some(isReplicated));
  throwIfRefused(store, reply, sentAt);
  let at = 1;
  const next = () => {
    const from = at + 1;
    at = from + (reply[at] as number);
    return reply.slice(from, at);
  };
  return { reply: calls.map(({ verbs }) => verbs.map(next)), confirmed };
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
  // Jobs of one partition probably belong to one space.
  parameters[1] = bases.size * 4 <= count ? '1' : '';
  parameters[2] = [...used].join(' ');
  return parameters;
}
