import { z } from 'zod';
import { YardmasterError } from '../errors.js';
import { retry, retryOf, retrySchema } from '../jobs/timing.js';
import { LIMITS } from '../limits.js';
import { anObject, boundedArray, integerBetween, nameFilter, numberBetween, secondsUpTo } from '../schema/fields.js';
import { count, success } from '../schema/response-fields.js';

// Settings of a space, and its pause. All settings of a space that has never had any are absent.

/** For the OpenAPI document: the rows of these bodies refuse unknown fields, as no other body does. */
const EXACT = { additionalProperties: false } as const;

/** Make a schema of a setting that a change may leave as it is, or set back with null. */
const setting = <T extends z.ZodType>(schema: T, description: string) =>
  schema.nullable().optional().describe(`${description}; null sets it back`);

const aBoolean = z.boolean({ error: 'must be a boolean' });
const kept = (status: string) =>
  setting(numberBetween(0, LIMITS.retentionSecondsMax), `How long a ${status} job stays; 0 keeps it forever`);

/** Body of Change Space Settings; an absent body changes nothing. Its row refuses unknown fields. */
export const settingsChange = z
  .object(
    {
      retention: setting(
        z
          .object(
            { completedSeconds: kept('completed'), deadSeconds: kept('dead'), killedSeconds: kept('killed') },
            anObject,
          )
          .meta({ id: 'RetentionChange', ...EXACT }),
        'For jobs that end from now on, instead of `RETENTION_SECONDS`',
      ),
      maxPending: setting(
        integerBetween(0, LIMITS.maxPendingMax),
        'Pending jobs from which on the creation of another is refused',
      ),
      maxBytes: setting(
        integerBetween(0, LIMITS.maxBytesMax),
        "Bytes of Redis's memory from which on the creation of jobs and the appending of logs are refused",
      ),
      defaults: setting(
        z
          .object(
            {
              maxRetries: setting(integerBetween(0, LIMITS.maxRetriesMax), 'As in Create Job'),
              timeoutSeconds: setting(secondsUpTo(LIMITS.timeoutSecondsMax), 'As in Create Job'),
              retry: setting(retrySchema({ id: 'RetryDefaults', ...EXACT }), 'As in Create Job, as a whole'),
              maxRunSeconds: setting(secondsUpTo(LIMITS.maxRunSecondsMax), 'As in Create Job'),
            },
            anObject,
          )
          .meta({ id: 'JobDefaultsChange', ...EXACT }),
        'Fields of jobs whose creation leaves them out',
      ),
      anonymousStreams: setting(
        aBoolean,
        'Whether job streams may be opened without a token, instead of `ANONYMOUS_STREAMS`',
      ),
      requireDeliveryToken: setting(aBoolean, 'Whether calls of workers need a delivery token; default false'),
    },
    anObject,
  )
  .meta({ id: 'SpaceSettingsChange', ...EXACT });
export type SettingsChange = z.output<typeof settingsChange>;

/** What is set, of a group of settings or of all of them. */
type WhatIsSet<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

/** The settings of a space as they are stored: only those that are set. */
export type SpaceSettings = WhatIsSet<Omit<SettingsChange, 'retention' | 'defaults'>> & {
  retention?: WhatIsSet<NonNullable<SettingsChange['retention']>>;
  defaults?: JobDefaults;
  /** Limits that a key for every space has set. Not shown. */
  operatorLimits?: SpaceLimit[];
};

/** Settings that a key of one space may only lower, once a key for every space has set them. */
const SPACE_LIMITS = ['maxPending', 'maxBytes'] as const;
type SpaceLimit = (typeof SPACE_LIMITS)[number];

/** Fields of new jobs, for requests that leave them out. */
export type JobDefaults = WhatIsSet<NonNullable<SettingsChange['defaults']>>;

/**
 * Return settings after a change. A group is merged setting by setting; `retry` is one setting.
 *
 * @param isOperator whether the caller's key is for every space
 * @throws FORBIDDEN for a limit of an operator that another caller would raise or set back
 */
export function changedSettings(
  { operatorLimits = [], ...settings }: SpaceSettings,
  change: SettingsChange,
  isOperator: boolean,
): SpaceSettings {
  const after: SpaceSettings = merged(settings, change, ['retention', 'defaults']);
  const raised = operatorLimits.find((name) => (after[name] ?? Number.POSITIVE_INFINITY) > (settings[name] as number));
  if (raised !== undefined && !isOperator) {
    throw new YardmasterError('FORBIDDEN', `${raised} was set with a key for every space: this key may only lower it`);
  }
  const isOfOperator = (name: SpaceLimit) =>
    after[name] !== undefined && (operatorLimits.includes(name) || (isOperator && change[name] !== undefined));
  const limits = SPACE_LIMITS.filter(isOfOperator);
  return { ...after, ...(limits.length > 0 && { operatorLimits: limits }) };
}

function merged(settings: object, change: object, groups: readonly string[]): object {
  const result: Record<string, unknown> = { ...settings };
  for (const [name, value] of Object.entries(change)) {
    const isGroup = groups.includes(name) && value !== null && value !== undefined;
    const next = isGroup ? merged((result[name] ?? {}) as object, value, []) : value;
    if (next === undefined) continue;
    if (next === null || (isGroup && Object.keys(next).length === 0)) delete result[name];
    else result[name] = next;
  }
  return result;
}

/** What is paused in a space: all of it, or jobs of these names; absent when nothing is. */
export const paused = z.union([success, z.array(z.string())]).optional();
export type Paused = z.output<typeof paused>;

const seconds = z.number().optional();

/** Response of Get Space Settings and Change Space Settings: only what is set. */
export const spaceSettings = z
  .object({
    retention: z
      .object({ completedSeconds: seconds, deadSeconds: seconds, killedSeconds: seconds })
      .optional()
      .describe('Absent where `RETENTION_SECONDS` of the service decides'),
    maxPending: count.optional().describe('Absent without a limit'),
    maxBytes: count.optional().describe('Absent without a limit'),
    defaults: z
      .object({
        maxRetries: count.optional(),
        timeoutSeconds: seconds,
        retry: retry.optional(),
        maxRunSeconds: seconds,
      })
      .optional(),
    anonymousStreams: z.boolean().optional().describe('Absent where `ANONYMOUS_STREAMS` of the service decides'),
    requireDeliveryToken: z.boolean().optional(),
    paused: paused.describe('true for the whole space, or the paused names; absent when nothing is paused'),
  })
  .meta({ id: 'SpaceSettings' });

/** Return settings as responses show them. */
export function shownSettings(
  { defaults, operatorLimits: _, ...settings }: SpaceSettings,
  isPaused: Paused,
): z.output<typeof spaceSettings> {
  const { retry: ofJobs, ...others } = defaults ?? {};
  return {
    ...settings,
    ...(defaults && { defaults: { ...others, ...(ofJobs && { retry: retryOf(ofJobs) }) } }),
    ...(isPaused !== undefined && { paused: isPaused }),
  };
}

/** Body of Pause Space and Resume Space; an absent body, or one without names, is about the whole space. */
export const pauseRequest = z
  .object(
    {
      names: boundedArray(nameFilter, {
        min: 1,
        max: LIMITS.pausedNames,
        what: 'names',
        error: 'must be an array of strings',
      })
        .nullable()
        .default(null)
        .describe('Names of jobs; without them, the whole space'),
    },
    anObject,
  )
  .meta({ id: 'Pause', ...EXACT });
export type PauseRequest = z.output<typeof pauseRequest>;
