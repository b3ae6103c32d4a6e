import { z } from 'zod';
import { bodyFilter, statusFilter } from './find.js';
import { OPERATION_ACTIONS, type OperationAction, type Status } from './jobs/statuses.js';
import { delaySeconds } from './jobs/timing.js';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import { boundedText, exactObject, integerBetween, withDefault } from './schema/fields.js';
import { count, instant, jobStatus } from './schema/response-fields.js';

const ACTIONS = Object.keys(OPERATION_ACTIONS) as [OperationAction, ...OperationAction[]];

/** Selects the jobs of an operation. Unknown fields are refused, because a misspelled filter must not match every job. */
const operationFilter = exactObject({
  status: describeAs(
    statusFilter.describe(''),
    z.union([jobStatus, z.array(jobStatus).min(1).max(LIMITS.filterStatuses)]),
  ).describe('Only jobs with one of these statuses. The action must be possible in each of them'),
  ...bodyFilter,
}).meta({ id: 'OperationFilterRequest' });

/** Body of Start Operation. Unknown fields are refused, because a misspelled `dryRun` must not change anything. */
export const operationRequest = exactObject({
  action: z.enum(ACTIONS, { error: `must be one of ${ACTIONS.join(', ')}` }),
  filter: operationFilter,
  limit: integerBetween(1, Number.MAX_SAFE_INTEGER)
    .nullable()
    .default(null)
    .describe('Maximum number of jobs to change; null for all'),
  dryRun: withDefault(z.boolean({ error: 'must be a boolean' }), false).describe(
    'Whether to only count, in `changed`, the jobs that the operation would change',
  ),
  reason: boundedText(LIMITS.operationReasonCharacters)
    .nullable()
    .default(null)
    .describe('Reason, shown with the operation; for a kill, also in the history of each job'),
  delaySeconds: delaySeconds.describe('Seconds until the jobs become claimable; only for `requeue` and `reschedule`'),
})
  .superRefine(({ action, filter, delaySeconds }, ctx) => {
    const fault = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const possible: readonly Status[] = OPERATION_ACTIONS[action];
    const wrong = filter.status.find((one) => !possible.includes(one));
    if (wrong !== undefined) fault(['filter', 'status'], `must be one of ${possible.join(', ')} with action ${action}`);
    const isTimed = action === 'requeue' || action === 'reschedule';
    if (!isTimed && delaySeconds !== null) fault(['delaySeconds'], 'is allowed only with action requeue or reschedule');
    if (action === 'reschedule' && delaySeconds === null) fault(['delaySeconds'], 'is required with action reschedule');
  })
  .meta({ id: 'OperationRequest' });
export type OperationRequest = z.output<typeof operationRequest>;

export const OPERATION_STATUSES = ['running', 'done', 'cancelled'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** The current state of an operation. Request fields that are null are omitted. */
export const operation = z
  .object({
    id: z.string(),
    spaceId: z.string(),
    action: z.enum(ACTIONS),
    filter: z
      .object({
        status: z.array(jobStatus),
        names: z.array(z.string()).optional(),
        tags: z.array(z.string()).optional(),
        schedule: z.string().optional(),
        createdAfter: instant.optional(),
        createdBefore: instant.optional(),
        q: z.string().optional(),
        ids: z.array(z.string()).optional(),
      })
      .meta({ id: 'OperationFilter', description: 'Filter of the operation, as in the request' }),
    limit: count.optional(),
    dryRun: z.boolean().optional().describe('Absent if false'),
    reason: z.string().optional(),
    delaySeconds: z.number().optional(),
    status: z.enum(OPERATION_STATUSES),
    looked: count.describe('Number of jobs examined'),
    changed: count.describe('Number of jobs changed; with `dryRun`, the number that would be'),
    skipped: count.describe('Number of matching jobs whose status had changed, or whose unique key was taken'),
    left: count.describe('Number of jobs not examined yet'),
    startedAt: instant,
    finishedAt: instant.nullable(),
  })
  .meta({ id: 'Operation' });
export type Operation = z.output<typeof operation>;

/** Response of List Operations, newest first. */
export const operationList = z.object({ operations: z.array(operation) }).meta({ id: 'OperationList' });
