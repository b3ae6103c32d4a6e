import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { anObject, isJsonObject, optional, required } from '../schema/fields.js';

const PERCENT = 'must be between 0 and 100';
// 1e400 is parsed as Infinity, which is a number, but out of range.
const percentRule = (issue: { input?: unknown }) => {
  if (issue.input === undefined) return 'is required';
  return typeof issue.input === 'number' ? PERCENT : 'must be a number';
};
const percent = z.number({ error: percentRule }).min(0, { error: PERCENT }).max(100, { error: PERCENT });

const stage = z.object({ percent, message: optional(z.string({ error: 'must be a string' })) }, anObject);

type Stage = { percent: number; message?: string | undefined };

/** Check stages by name, entry by entry, because zod's record would drop a stage named "__proto__". */
function checkStages(stages: object, ctx: z.RefinementCtx): Record<string, Stage> {
  const entries = Object.entries(stages);
  if (entries.length > LIMITS.subProgressStages) {
    ctx.addIssue({ code: 'custom', message: `must have at most ${LIMITS.subProgressStages} stages` });
    return z.NEVER;
  }
  const checked: [string, Stage][] = [];
  for (const [stageName, value] of entries) {
    const outcome = stage.safeParse(value);
    if (outcome.success) checked.push([stageName, outcome.data as Stage]);
    else
      for (const { path, message } of outcome.error.issues)
        ctx.addIssue({ code: 'custom', message, path: [stageName, ...path] });
  }
  return Object.fromEntries(checked);
}
const stagesOf = (described: z.ZodType) =>
  describeAs(
    z.custom<object>(isJsonObject, { ...anObject, abort: true }).transform(checkStages),
    z.record(z.string(), described).meta({ maxProperties: LIMITS.subProgressStages, description: 'Stages by name' }),
  );

/**
 * A progress report: percent from 0 to 100, a human-readable message, and optional stages. Other fields are dropped.
 *
 * @see docs/api/workers.md#heartbeats
 */
export const progressRequest = z
  .object(
    {
      percent,
      message: z.string(required('must be a string')).min(1, { error: 'must not be empty' }),
      subProgress: optional(stagesOf(stage)),
    },
    anObject,
  )
  .meta({ id: 'ProgressRequest' });

/** A progress report in a response. */
export const progress = z
  .object({
    percent,
    message: z.string(),
    subProgress: stagesOf(z.object({ percent, message: z.string().optional() })).optional(),
  })
  .meta({ id: 'Progress' });

export type Progress = z.output<typeof progress>;
