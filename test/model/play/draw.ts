import { partitionOf } from '@yardmaster/store';
import { promoteAt, startLimitOf } from '../waiting.js';
import type { Call } from './calls.js';
import { DRAW_INPUT, type Drawing, fittingWeights, WEIGHTS } from './draw-calls.js';
import type { Step } from './step.js';

/** With more jobs than these, few are created, so that more happens to each. */
export const MANY = 8;

/** Draw time that passes, or a step of the clock; null for none. */
export function drawTime(drawing: Drawing): Step | null {
  if (drawing.isUnsteady && drawing.random.chance(0.04)) return { stepMs: stepping(drawing) };
  return drawing.random.chance(0.1) ? { passMs: passing(drawing) } : null;
}

/** Draw two to four concurrent calls, most of them on few jobs. */
export function drawCallsAtOnce(drawing: Drawing): Step {
  const time = drawTime(drawing);
  if (time) return time;
  const calls = Array.from({ length: drawing.random.between(2, 4) }, (_, i) => drawCall(drawing, `x${i}`));
  return { calls };
}

/** Draw a call. Half of the calls move some job on; the others are of any verb and any job. */
export function drawCall(drawing: Drawing, mark = ''): Call {
  const { random, world } = drawing;
  const sweep = drawing.isTimed && random.chance(0.3) ? drawSweep(drawing) : null;
  if (sweep) return sweep;
  const about = world.jobs.size > 0 && random.chance(0.5) ? random.of([...world.jobs.values()]) : null;
  const fitting = about && fittingWeights(about, drawing);
  const verb = random.weighted<keyof typeof WEIGHTS>(fitting ?? weightsOf(drawing, mark === ''));
  const call = drawInput(verb, fitting ? { ...drawing, about } : drawing);
  return 'label' in call ? { ...call, label: call.label + mark } : call;
}

/** Draw a call of a verb. */
export const drawInput = (verb: keyof typeof WEIGHTS, drawing: Drawing): Call =>
  // A row of the table draws the input of its verb, which the type of the table cannot express.
  ({ verb, ...DRAW_INPUT[verb](drawing) }) as Call;

/** Return how likely each verb is when it may be about any job. An operation has steps, between which others come. */
function weightsOf({ world, isTimed }: Drawing, isAlone: boolean): Record<keyof typeof WEIGHTS, number> {
  const { size } = world.jobs;
  return {
    ...WEIGHTS,
    operate: isAlone ? WEIGHTS.operate : 0,
    copy: size < MANY ? WEIGHTS.copy : 0,
    reschedule: isTimed ? 3 * WEIGHTS.reschedule : 0,
    create: size < 3 ? 20 : size < MANY ? WEIGHTS.create : 1,
    // With more of them, jobs that wait are replaced.
    createMany: size < MANY ? WEIGHTS.createMany : 1,
    createKeyed: size < 3 ? 20 : (isTimed ? 2 : 1) * WEIGHTS.createKeyed,
  };
}

/** Draw the sweep of a job whose time is over; null without one. */
export function drawSweep({ random, world: { now, jobs } }: Drawing): Call | null {
  const isOver = (at: number | null) => at !== null && at < now;
  const over = [...jobs.values()].flatMap((job) => [
    ...(isOver(promoteAt(job)) ? [{ verb: 'promote' as const, job }] : []),
    ...(isOver(job.deadline) ? [{ verb: 'expire' as const, job }] : []),
  ]);
  if (over.length === 0) return null;
  const { verb, job } = random.of(over);
  return { verb, partition: partitionOf(job.spaceId) };
}

/** Clock steps that schedulers notice. */
const STEPS_MS = [2_500, 45_000, 3_600_000];

/** Jobs may be scheduled for a time so far away that the store could not count on from there. */
const FAR_MS = 10 * 24 * 3_600_000;

/** Draw how long time passes: often to the end of some window or a millisecond past it, rarely a little back. */
function passing({ random, world: { now, jobs }, isUnsteady }: Drawing): number {
  const ends = [...jobs.values()].flatMap((job) => [
    job.deadline ?? 0,
    promoteAt(job) ?? 0,
    startLimitOf(job) ?? 0,
    job.callback?.relayAt ?? 0,
    job.callback?.dueAt ?? 0,
    job.callback?.leasedUntil ?? 0,
  ]);
  const ahead = ends.filter((end) => end >= now && end < now + FAR_MS);
  if (ahead.length > 0 && random.chance(0.5)) return random.of(ahead) - now + random.between(0, 1);
  return random.of([1, 7, 500, 1_000, 2_000, 61_000, isUnsteady ? -30 : 30]);
}

const stepping = ({ random }: Drawing) => random.of(STEPS_MS) * random.of([1, -1]);
