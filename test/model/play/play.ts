import { inspect } from 'node:util';
import { Random } from '../../support/random.js';
import type { Arenas } from './arena.js';
import type { Call } from './calls.js';
import { Disagreement } from './disagreement.js';
import { drawCallsAtOnce, drawStep } from './draw.js';
import { Game, type Position, type Rules } from './game.js';
import { shortest } from './shorten.js';
import { lineOf, type Step } from './step.js';
import { settingsOf } from './values.js';

/** A sequence that was played. */
export interface Played {
  steps: Step[];
  calls: number;
  /** On what store and model disagree; null for nothing. */
  fault: string | null;
}

/** Play a sequence on a fresh store and on the model, to its end or to the first thing on which they disagree. */
export async function play(arenas: Arenas, rules: Rules): Promise<Played> {
  const arena = await arenas.open(rules.settings);
  const game = new Game(arena, rules);
  let fault: string | null = null;
  try {
    await game.run();
  } catch (error) {
    fault = error instanceof Disagreement ? error.message : inspect(error);
  }
  await arena.close();
  return { steps: game.steps, calls: game.calls, fault };
}

export interface How {
  /** Whether calls are made at once. */
  atOnce: boolean;
  /** Collects the verbs of the calls that were drawn, each also with the status of its job: `ack running`. */
  drawn: Set<string>;
}

/**
 * Play the sequence of a seed.
 *
 * @returns calls that were compared
 * @throws the shortest sequence that was found to show a fault, as lines to read
 */
export async function playSeed(arenas: Arenas, seed: number, { atOnce, drawn }: How): Promise<number> {
  const random = new Random(seed);
  const settings = settingsOf(random);
  const length = atOnce ? random.between(15, 40) : random.between(50, 150);
  const draw = atOnce ? drawCallsAtOnce : drawStep;
  const isUnsteady = random.chance(0.25); // Not in all, since histories are replayed only if the clock is steady.
  const next: Rules['next'] = (position) => {
    if (position.at > length) return null;
    const step = draw({ random, isUnsteady, ...position });
    if ('calls' in step) for (const call of step.calls) drawn.add(call.verb).add(callOnStatus(call, position));
    return step;
  };
  const played = await play(arenas, { settings, next, auditEvery: atOnce ? 10 : 40 });
  if (played.fault === null) return played.calls;

  const { steps, fault } = await shortest(played, (some) => {
    const rest = [...some];
    return play(arenas, { settings, next: () => rest.shift() ?? null, auditEvery: 1 });
  });
  const lines = steps.map((step, i) => `${i + 1}. ${lineOf(step)}`);
  throw new Error(`MODEL_SEED=${seed} finds, with ${JSON.stringify(settings)}:\n${lines.join('\n')}\n${fault}`);
}

/** A call by the last word of its path, and the status of its job; `none` when there is no such job. */
function callOnStatus(call: Call, { world, given }: Position): string {
  const verb = call.verb === 'heartbeat' ? call.beat.kind : call.verb === 'append' ? 'logs' : call.verb;
  const resolved = given.resolved(call);
  return `${verb} ${('job' in resolved && world.jobs.get(resolved.job)?.status) || 'none'}`;
}
