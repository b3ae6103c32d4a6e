import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { describeAs } from '../schema/describe.js';
import { anObject, isJsonObject, required } from '../schema/fields.js';

const PERCENT = 'must be between 0 and 100';
// 1e400 is read as Infinity: a number, and out of range.
const percentRule = (issue: { input?: unknown }) => {
  if (issue.input === undefined) return 'is required';
  return typeof issue.input === 'number' ? PERCENT : 'must be a number';
};
const percent = z.number({ error: percentRule }).min(0, { error: PERCENT }).max(100, { error: PERCENT });

const stage = z.object({ percent, message: z.string({ error: 'must be a string' }).optional() }, anObject);

type Stage = { percent: number; message?: string };

/** Stages by name. The object is built entry by entry, because zod's record would drop a stage named "__proto__". */
const checkedStages = z.custom<object>(isJsonObject, { ...anObject, abort: true }).transform((stages, ctx) => {
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
});
const subProgress = describeAs(
  checkedStages,
  z.record(z.string(), stage).meta({ maxProperties: LIMITS.subProgressStages, description: 'Stages by name' }),
);

/**
 * A progress report: percent 0 to 100 with decimals, a message for people, and optional stages.
 * Fields beyond these are dropped.
 *
 * @see docs/api.md#while-a-job-runs
 */
export const progressRequest = z
  .object(
    {
      percent,
      message: z.string(required('must be a string')).min(1, { error: 'must not be empty' }),
      subProgress: subProgress.optional(),
    },
    anObject,
  )
  .meta({ id: 'Progress' });

export type Progress = z.output<typeof progressRequest>;
