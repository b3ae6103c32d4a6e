import { inspect } from 'node:util';
import { Random } from '../../support/random.js';
import type { Call } from './calls.js';
import { Clients } from './clients.js';
import { Disagreement } from './disagreement.js';
import { drawCallsAtOnce } from './draw.js';
import { type Position, type Rules, SequenceRun } from './sequence-run.js';
import { type Played, shortest } from './shorten.js';
import { lineOf } from './step.js';
import type { TestStores } from './test-store.js';
import { settingsOf } from './values.js';

/** Play a sequence on a fresh store and on the model, to its end or to the first disagreement. */
export async function play(testStores: TestStores, rules: Rules): Promise<Played> {
  const testStore = await testStores.open(rules.settings, rules.isGrouped);
  const run = new SequenceRun(testStore, rules);
  let fault: string | null = null;
  try {
    await run.run();
  } catch (error) {
    fault = error instanceof Disagreement ? error.message : inspect(error);
  }
  await testStore.close();
  return { steps: run.steps, calls: run.calls, fault };
}

export interface How {
  /** Whether calls are concurrent. */
  atOnce: boolean;
  /** Collects the verbs of the generated calls, with and without the status of the job: `ack running`. */
  drawn: Set<string>;
}

/** Return how the sequence of a seed is played. */
function rulesOf(seed: number, { atOnce, drawn }: How): Rules {
  const random = new Random(seed);
  const settings = settingsOf(random);
  const length = atOnce ? random.between(15, 40) : random.between(100, 200);
  const clients = new Clients(random);
  const isUnsteady = random.chance(0.25); // Not in all sequences, because histories are replayed only if the clock is steady.
  const isTimed = random.chance(0.45); // Not in all, because most jobs have none of these options.
  const next: Rules['next'] = (position) => {
    if (position.at > length) return null;
    const drawing = { random, isUnsteady, isTimed, ...position };
    const step = atOnce ? drawCallsAtOnce(drawing) : clients.next(drawing, position.results);
    if ('calls' in step) for (const call of step.calls) drawn.add(call.verb).add(callOnStatus(call, position));
    return step;
  };
  return { settings, isGrouped: atOnce && seed % 2 === 0, next, auditEvery: atOnce ? 10 : 100 };
}

/** Play the sequence of a seed. */
export const playOnce = (testStores: TestStores, seed: number, how: How): Promise<Played> =>
  play(testStores, rulesOf(seed, how));

/**
 * Play the sequence of a seed.
 *
 * @returns how many calls were compared
 * @throws how to repeat it, and the shortest sequence found that shows a fault, one line per step
 */
export async function playSeed(testStores: TestStores, seed: number, how: How): Promise<number> {
  const played = await playOnce(testStores, seed, how);
  if (played.fault === null) return played.calls;

  const rules = rulesOf(seed, how);
  const { steps, fault } = await shortest(played, (some) => {
    const rest = [...some];
    return play(testStores, { ...rules, next: () => rest.shift() ?? null, auditEvery: 1 });
  });
  const lines = steps.map((step, i) => `${i + 1}. ${lineOf(step)}`);
  const repeat = `MODEL_SEED=${seed} npm test -- test/model/model`;
  throw new Error(`${repeat}\nfinds, with ${JSON.stringify(rules.settings)}:\n${lines.join('\n')}\n${fault}`);
}

/** A call by the last word of its path, and the status of its job; `none` when there is no such job. */
function callOnStatus(call: Call, { world, issued }: Position): string {
  const verb = call.verb === 'heartbeat' ? call.beat.kind : call.verb === 'append' ? 'logs' : call.verb;
  const resolved = issued.resolved(call);
  return `${verb} ${('job' in resolved && world.jobs.get(resolved.job)?.status) || 'none'}`;
}
