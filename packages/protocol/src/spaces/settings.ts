import { z } from 'zod';
import { YardmasterError } from '../errors.js';
import { retry, retryOf, retrySchema } from '../jobs/timing.js';
import { LIMITS } from '../limits.js';
import { anObject, boundedArray, integerBetween, nameFilter, numberBetween, secondsUpTo } from '../schema/fields.js';
import { count, success } from '../schema/response-fields.js';

// Settings of a space, and its pause. Settings that were never set are absent.

/** Marks a body in the OpenAPI document whose row refuses unknown fields. */
const EXACT = { additionalProperties: false } as const;

/** Make the schema of a setting: absent leaves it unchanged, null resets it. */
const setting = <T extends z.ZodType>(schema: T, description: string) =>
  schema.nullable().optional().describe(`${description}; null resets it`);

const aBoolean = z.boolean({ error: 'must be a boolean' });
const kept = (status: string) =>
  setting(numberBetween(0, LIMITS.retentionSecondsMax), `Seconds to keep a ${status} job; 0 keeps it forever`);

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
        'How long to keep jobs that end from now on; overrides `RETENTION_SECONDS`',
      ),
      maxPending: setting(
        integerBetween(0, LIMITS.maxPendingMax),
        'Maximum number of pending jobs; beyond it, creates are refused',
      ),
      maxBytes: setting(
        integerBetween(0, LIMITS.maxBytesMax),
        'Maximum memory that the space uses in Redis, in bytes; beyond it, creates and log appends are refused',
      ),
      defaults: setting(
        z
          .object(
            {
              maxRetries: setting(integerBetween(0, LIMITS.maxRetriesMax), 'As in Create Job'),
              timeoutSeconds: setting(secondsUpTo(LIMITS.timeoutSecondsMax), 'As in Create Job'),
              retry: setting(retrySchema({ id: 'RetryDefaults', ...EXACT }), 'As in Create Job; replaced as a whole'),
              maxRunSeconds: setting(secondsUpTo(LIMITS.maxRunSecondsMax), 'As in Create Job'),
            },
            anObject,
          )
          .meta({ id: 'JobDefaultsChange', ...EXACT }),
        'Defaults for fields that a create omits',
      ),
      anonymousStreams: setting(
        aBoolean,
        'Whether job streams can be opened without a token; overrides `ANONYMOUS_STREAMS`',
      ),
      requireDeliveryToken: setting(aBoolean, 'Whether worker calls must send a delivery token, false by default'),
    },
    anObject,
  )
  .meta({ id: 'SpaceSettingsChange', ...EXACT });
export type SettingsChange = z.output<typeof settingsChange>;

/** Settings that are set: those of a group, or all. */
type WhatIsSet<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> };

/** Settings of a space as stored: only those that are set. */
export type SpaceSettings = WhatIsSet<Omit<SettingsChange, 'retention' | 'defaults'>> & {
  retention?: WhatIsSet<NonNullable<SettingsChange['retention']>>;
  defaults?: JobDefaults;
  /** Limits set with a key that isn't bound to a space. Not shown. */
  operatorLimits?: SpaceLimit[];
};

/** Limits that a space-bound key may only lower once a key that isn't bound to a space has set them. */
const SPACE_LIMITS = ['maxPending', 'maxBytes'] as const;
type SpaceLimit = (typeof SPACE_LIMITS)[number];

/** Defaults for fields that a create omits. */
export type JobDefaults = WhatIsSet<NonNullable<SettingsChange['defaults']>>;

/**
 * Apply a change to settings. Groups are merged setting by setting; `retry` counts as one setting.
 *
 * @param isOperator whether the caller's key isn't bound to a space
 * @throws FORBIDDEN if another caller would raise or reset a limit set by an operator
 */
export function changedSettings(
  { operatorLimits = [], ...settings }: SpaceSettings,
  change: SettingsChange,
  isOperator: boolean,
): SpaceSettings {
  const after: SpaceSettings = merged(settings, change, ['retention', 'defaults']);
  const raised = operatorLimits.find((name) => (after[name] ?? Number.POSITIVE_INFINITY) > (settings[name] as number));
  if (raised !== undefined && !isOperator) {
    throw new YardmasterError(
      'FORBIDDEN',
      `${raised} was set with a key that isn't bound to a space; this key may only lower it`,
    );
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

/** What is paused in a space: true for the whole space, or a list of names; absent if nothing is. */
export const paused = z.union([success, z.array(z.string())]).optional();
export type Paused = z.output<typeof paused>;

const seconds = z.number().optional();

/** Response of Get Space Settings and Change Space Settings: only settings that are set. */
export const spaceSettings = z
  .object({
    retention: z
      .object({ completedSeconds: seconds, deadSeconds: seconds, killedSeconds: seconds })
      .optional()
      .describe('How long jobs are kept after they end; absent if only `RETENTION_SECONDS` applies'),
    maxPending: count.optional().describe('Maximum number of pending jobs; absent without a limit'),
    maxBytes: count
      .optional()
      .describe('Maximum memory that the space uses in Redis, in bytes; absent without a limit'),
    defaults: z
      .object({
        maxRetries: count.optional(),
        timeoutSeconds: seconds,
        retry: retry.optional(),
        maxRunSeconds: seconds,
      })
      .optional(),
    anonymousStreams: z
      .boolean()
      .optional()
      .describe('Whether job streams can be opened without a token; absent if `ANONYMOUS_STREAMS` applies'),
    requireDeliveryToken: z.boolean().optional().describe('Whether worker calls must send a delivery token'),
    paused: paused.describe('`true` if the whole space is paused, or the paused names; absent if nothing is paused'),
  })
  .meta({ id: 'SpaceSettings' });

/** Format settings for a response. */
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

/** Body of Pause Space and Resume Space; an absent body, or one without names, applies to the whole space. */
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
        .describe('Names of jobs; null for the whole space'),
    },
    anObject,
  )
  .meta({ id: 'Pause', ...EXACT });
export type PauseRequest = z.output<typeof pauseRequest>;
