import { createHash } from 'node:crypto';
import { ERRORS, type ErrorCode, type Status, YardmasterError } from '@yardmaster/protocol';
import { Cluster } from 'ioredis';
import { callError } from '../call.js';
import { carriedOutWithinMs, type Store } from '../store.js';
import { followingManualClock } from './manual-clock.js';

/** A compiled Lua file. Its inputs are by name: keys, arguments, and the list of all further arguments. */
export interface Script<Inputs, Reply> {
  name: string;
  /** Hash by which Redis knows the text, so that two releases side by side never share a script by accident. */
  sha1: string;
  text: string;
  /** Number of its keys; they come first among the parameters. */
  keyCount: number;
  /** Put its inputs in order. This is generated, because it costs less than a loop over their names. */
  parameters: (inputs: Inputs) => ScriptArgument[];
  /** Decode a reply that is no error, as the header of the file declares it. */
  decode: (reply: unknown[]) => Reply;
}

/** First word of the reply when a script did nothing because its deadline was over. */
const TOO_LATE = 'TOO_LATE';

export type ScriptArgument = string | number;

/**
 * Run a script once. When no reply comes, it is never sent again, because the script may have run.
 *
 * @returns the decoded reply, with its `outcome` for a script that declares several
 * @throws the error code that the script returned, with the job's status if it returned one; UNAVAILABLE; STORAGE_FULL
 */
export async function runScript<Inputs, Reply>(
  store: Store,
  script: Script<Inputs, Reply>,
  inputs: NoInfer<Inputs>,
): Promise<Reply> {
  const sentAt = performance.now();
  const reply = await evaluate(store, script, script.parameters(inputs));
  const word = reply[0] as string;
  if (word === 'STORAGE_FULL') store.observer.failed('full');
  if (word === TOO_LATE) {
    const earlyMs = carriedOutWithinMs(store) - (performance.now() - sentAt);
    if (earlyMs > 0) store.clock.reportTooLate(earlyMs);
    throw new YardmasterError('OVERLOADED');
  }
  if (word === SLOT_MOVING) {
    store.observer.failed('busy');
    throw new YardmasterError('UNAVAILABLE', undefined, {}, { cause: new Error(String(reply[1])) });
  }
  if (word in ERRORS) {
    // Beside an error code, scripts return the status of the job, and a hint, or nothing.
    const [, status, hint] = reply;
    const extras = {
      ...(typeof status === 'string' && { jobStatus: status as Status }),
      ...(typeof hint === 'string' && { hint }),
    };
    throw new YardmasterError(word as ErrorCode, undefined, extras);
  }
  return script.decode(reply);
}

async function evaluate<I, R>(store: Store, script: Script<I, R>, parameters: ScriptArgument[]): Promise<unknown[]> {
  const { redis, observer } = store;
  const { sha1, text } = textOn(store, script);
  const began = performance.now();
  try {
    return (await redis.evalsha(sha1, script.keyCount, ...parameters)) as unknown[];
  } catch (error) {
    // This happens after a restart or a SCRIPT FLUSH. Redis replies NOSCRIPT before anything ran, so this is no
    // repetition.
    if (!isNoScript(error)) throw callError(observer, error);
    return (await redis.eval(text, script.keyCount, ...parameters).catch((again: unknown) => {
      throw callError(observer, again);
    })) as unknown[];
  } finally {
    // The code of `call` is repeated here, because calling it would cost each call two more promises.
    observer.called(script.name, performance.now() - began);
  }
}

const isNoScript = (error: unknown) => error instanceof Error && error.message.startsWith('NOSCRIPT');

/** Text of a script as Redis gets it. */
interface ScriptText {
  sha1: string;
  text: string;
}

/**
 * Lines that stop a script while its slot moves to another node. Some of a job's keys may then be on one node, and some
 * on the other. Redis notices that key by key, so a script would stop half-way, after its first writes. Two keys that
 * never exist show it beforehand: both the node that gives the slot away and the node that gets it refuse them. The first
 * key must have a hash tag, so that these two are in its slot.
 */
const SLOT_GUARD = `local probe = redis.pcall('EXISTS', KEYS[1] .. '?1', KEYS[1] .. '?2')
if type(probe) == 'table' and probe.err then return { 'SLOT_MOVING', probe.err } end
`;

/** First word of the reply when a script did nothing because its slot is being moved. */
export const SLOT_MOVING = 'SLOT_MOVING';

/** Texts that differ from those of a single Redis, by the hash of the latter, and the manual clock. */
const variants = new Map<string, ScriptText>();

/**
 * Return the text of a script for this Redis. On a cluster, it publishes to the shard of its slot, and counts the
 * subscribers there, because PUBLISH would send every event to every node. It also has a guard against a slot that is
 * being moved. Where the clock is manual, it reads that clock.
 */
export function textOn({ redis, keys, isClockManual }: Store, script: ScriptText): ScriptText {
  if (!(redis instanceof Cluster || isClockManual)) return script;
  const id = isClockManual ? `${script.sha1} ${keys.manualClock}` : script.sha1;
  const known = variants.get(id);
  if (known !== undefined) return known;
  const text = isClockManual ? followingManualClock(script.text, keys.manualClock) : onCluster(script.text);
  const variant = { sha1: createHash('sha1').update(text).digest('hex'), text };
  variants.set(id, variant);
  return variant;
}

const onCluster = (text: string): string =>
  SLOT_GUARD + text.replaceAll("call('PUBLISH',", "call('SPUBLISH',").replaceAll("'NUMSUB'", "'SHARDNUMSUB'");
