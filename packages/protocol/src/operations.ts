import { z } from 'zod';
import { bodyFilter, statusFilter } from './find.js';
import { OPERATION_ACTIONS, type OperationAction, type Status } from './jobs/statuses.js';
import { delaySeconds } from './jobs/timing.js';
import { LIMITS } from './limits.js';
import { describeAs } from './schema/describe.js';
import { boundedText, exactObject, integerBetween, withDefault } from './schema/fields.js';
import { count, instant, jobStatus } from './schema/response-fields.js';

const ACTIONS = Object.keys(OPERATION_ACTIONS) as [OperationAction, ...OperationAction[]];

/** Which jobs an operation is about. An unknown field is refused, because a misspelt filter must not match all jobs. */
const operationFilter = exactObject({
  status: describeAs(
    statusFilter.describe(''),
    z.union([jobStatus, z.array(jobStatus).min(1).max(LIMITS.filterStatuses)]),
  ).describe('Only jobs with one of these statuses, in each of which the action must be possible'),
  ...bodyFilter,
}).meta({ id: 'OperationFilterRequest' });

/** Body of Start Operation. An unknown field is refused, because a misspelt `dryRun` must change nothing. */
export const operationRequest = exactObject({
  action: z.enum(ACTIONS, { error: `must be one of ${ACTIONS.join(', ')}` }),
  filter: operationFilter,
  limit: integerBetween(1, Number.MAX_SAFE_INTEGER)
    .nullable()
    .default(null)
    .describe('Maximum number of jobs to change; default: all'),
  dryRun: withDefault(z.boolean({ error: 'must be a boolean' }), false).describe(
    'Only count, in `changed`, the jobs that it would change',
  ),
  reason: boundedText(LIMITS.operationReasonCharacters)
    .nullable()
    .default(null)
    .describe('Reason, shown with the operation; of a kill also in the history of each job'),
  delaySeconds: delaySeconds.describe('When the jobs become claimable; for requeue and reschedule'),
})
  .superRefine(({ action, filter, delaySeconds }, ctx) => {
    const fault = (path: string[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    const possible: readonly Status[] = OPERATION_ACTIONS[action];
    const wrong = filter.status.find((one) => !possible.includes(one));
    if (wrong !== undefined) fault(['filter', 'status'], `must be of ${possible.join(', ')} with action ${action}`);
    const isTimed = action === 'requeue' || action === 'reschedule';
    if (!isTimed && delaySeconds !== null) fault(['delaySeconds'], 'goes with action requeue or reschedule only');
    if (action === 'reschedule' && delaySeconds === null) fault(['delaySeconds'], 'is required with action reschedule');
  })
  .meta({ id: 'OperationRequest' });
export type OperationRequest = z.output<typeof operationRequest>;

export const OPERATION_STATUSES = ['running', 'done', 'cancelled'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/** An operation, as it is now. Fields that are null by default in the request are left out when they are. */
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
        createdAfter: instant.optional(),
        createdBefore: instant.optional(),
        q: z.string().optional(),
        ids: z.array(z.string()).optional(),
      })
      .meta({ id: 'OperationFilter', description: 'As in the request' }),
    limit: count.optional(),
    dryRun: z.boolean().optional().describe('Only when true'),
    reason: z.string().optional(),
    delaySeconds: z.number().optional(),
    status: z.enum(OPERATION_STATUSES),
    looked: count.describe('Jobs that were examined'),
    changed: count.describe('Jobs that were changed; with `dryRun`, that would be'),
    skipped: count.describe('Jobs that matched, but were no longer in that status, or whose unique key is taken'),
    left: count.describe('Jobs that are not examined yet'),
    startedAt: instant,
    finishedAt: instant.nullable(),
  })
  .meta({ id: 'Operation' });
export type Operation = z.output<typeof operation>;

/** Response of List Operations: newest first. */
export const operationList = z.object({ operations: z.array(operation) }).meta({ id: 'OperationList' });
