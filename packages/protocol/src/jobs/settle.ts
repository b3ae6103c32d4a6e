import { z } from 'zod';
import { errorResponse } from '../errors.js';
import { LIMITS } from '../limits.js';
import { anObject, boundedArray, jsonValue, required } from '../schema/fields.js';
import { jobIdField } from '../schema/response-fields.js';
import type { Scope } from '../scopes.js';
import { DELIVERY_TOKEN } from './job.js';
import { progressRequest } from './progress.js';
import { completeRequest, failRequest, releaseRequest } from './requests.js';

/** Actions that a worker can report on a job, with the scope that each requires. */
export const ACTION_SCOPES = {
  ack: 'jobs:ack',
  keepalive: 'jobs:keepalive',
  progress: 'jobs:progress',
  checkpoint: 'jobs:event',
  event: 'jobs:event',
  complete: 'jobs:complete',
  fail: 'jobs:fail',
  release: 'jobs:fail',
} as const satisfies Record<string, Scope>;
export type Action = keyof typeof ACTION_SCOPES;

const ACTION_RULE = `must be one of ${Object.keys(ACTION_SCOPES).join(', ')}`;
const data = jsonValue.default(null).describe('Any JSON value');

/** Fields of every outcome, for one action. */
const about = <A extends Action>(action: A) => ({
  jobId: z.string(required('must be a string')),
  deliveryToken: z
    .string({ error: 'must be a string' })
    .regex(new RegExp(DELIVERY_TOKEN), { error: 'must be the deliveryToken of a claimed job' })
    .nullable()
    .default(null)
    .describe('Delivery token of the claimed job; works like the header `x-delivery-token`'),
  action: z.literal(action),
});

/** The outcome of one job: an action, with the fields of its endpoint. */
export const outcome = z
  .discriminatedUnion(
    'action',
    [
      z.object(about('ack')).meta({ id: 'AckOutcome' }),
      z.object(about('keepalive')).meta({ id: 'KeepaliveOutcome' }),
      z.object({ ...about('progress'), ...progressRequest.shape }).meta({ id: 'ProgressOutcome' }),
      z.object({ ...about('checkpoint'), data }).meta({ id: 'CheckpointOutcome' }),
      z.object({ ...about('event'), data }).meta({ id: 'EventOutcome' }),
      z.object({ ...about('complete'), ...completeRequest.shape }).meta({ id: 'CompleteOutcome' }),
      z.object({ ...about('fail'), ...failRequest.shape }).meta({ id: 'FailOutcome' }),
      z.object({ ...about('release'), ...releaseRequest.shape }).meta({ id: 'ReleaseOutcome' }),
    ],
    { error: ({ code }: { code: string }) => (code === 'invalid_type' ? anObject.error : ACTION_RULE) },
  )
  .meta({ id: 'Outcome' });
export type Outcome = z.output<typeof outcome>;

const LIST_RULE = 'must be an array of objects';

/** Make the schema of a list of outcomes. */
export const settleList = (max: number) => boundedArray(outcome, { max, what: 'outcomes', error: LIST_RULE });

/** Body of Settle Jobs. */
export const settleRequest = z.object({ outcomes: settleList(LIMITS.settleMax) }, anObject).meta({ id: 'Settle' });

/** Result of one outcome: the response of the endpoint of its action. */
export const settled = errorResponse
  .omit({ details: true, jobId: true })
  .partial()
  .extend({
    jobId: jobIdField,
    success: z.boolean().describe('Whether the outcome was accepted; if not, `error` and `code` tell why'),
  })
  .meta({ id: 'Settled' });
export type Settled = z.output<typeof settled>;

/** Response of Settle Jobs, in the order of the outcomes. */
export const settleResponse = z.object({ results: z.array(settled) }).meta({ id: 'SettleResults' });
