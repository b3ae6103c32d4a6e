import type { Call } from './calls.js';
import { ASKED, type Drawing, fittingWeights, WEIGHTS } from './draw-calls.js';
import type { Step } from './step.js';

/** Past so many, jobs are created seldom: what happens to few is more than what happens to many. */
const MANY = 8;

/** A step in which somebody calls, or time passes. */
export function drawStep(drawing: Drawing): Step {
  if (drawing.isUnsteady && drawing.random.chance(0.04)) return { stepMs: stepping(drawing) };
  if (drawing.random.chance(0.15)) return { passMs: passing(drawing) };
  return { calls: [drawCall(drawing)] };
}

/** Two to four calls at once, most of them on few jobs. */
export function drawCallsAtOnce(drawing: Drawing): Step {
  if (drawing.isUnsteady && drawing.random.chance(0.04)) return { stepMs: stepping(drawing) };
  if (drawing.random.chance(0.1)) return { passMs: passing(drawing) };
  const calls = Array.from({ length: drawing.random.between(2, 4) }, (_, i) => drawCall(drawing, `x${i}`));
  return { calls };
}

/** Half of the calls are such as get on with some job; the others are of any verb and any job. */
function drawCall(drawing: Drawing, mark = ''): Call {
  const { random, world } = drawing;
  const { size } = world.jobs;
  const about = size > 0 && random.chance(0.5) ? random.of([...world.jobs.values()]) : null;
  const fitting = about && fittingWeights(about);
  const anyVerb = { ...WEIGHTS, create: size < 3 ? 40 : size < MANY ? WEIGHTS.create : 1 };
  const verb = random.weighted<keyof typeof WEIGHTS>(fitting ?? anyVerb);
  // One row of the table gives what goes with one verb, which its type cannot say.
  const call = { verb, ...ASKED[verb](fitting ? { ...drawing, about } : drawing) } as Call;
  return call.verb === 'create' ? { ...call, label: call.label + mark } : call;
}

/** Steps that schedulers notice. */
const STEPS_MS = [2_500, 45_000, 3_600_000];

/** Often to the very end of some window, or a millisecond past it; now and then a little back, as clocks do. */
function passing({ random, world: { now, jobs }, isUnsteady }: Drawing): number {
  const ends = [...jobs.values()].flatMap(({ deadline, callback }) => [
    deadline ?? 0,
    callback?.lookAt ?? 0,
    callback?.dueAt ?? 0,
    callback?.leasedUntil ?? 0,
  ]);
  const ahead = ends.filter((end) => end >= now);
  if (ahead.length > 0 && random.chance(0.5)) return random.of(ahead) - now + random.between(0, 1);
  return random.of([1, 7, 500, 2_000, 61_000, isUnsteady ? -30 : 30]);
}

const stepping = ({ random }: Drawing) => random.of(STEPS_MS) * random.of([1, -1]);
