import {
  createdJob,
  type KnownJob,
  listSchedulesQuery,
  NO_EVENTS,
  type Schedule,
  type ScheduleRequest,
  type SchedulesRequest,
  schedule,
  scheduleList,
  schedulePauseRequest,
  scheduleRequest,
  scheduleRunRequest,
  schedulesChange,
  schedulesRequest,
  scheduleWithTimes,
} from '@yardmaster/protocol';
import {
  deleteSchedule,
  getJob,
  getSchedule,
  listSchedules,
  pauseSchedule,
  putSchedule,
  putSchedules,
  runSchedule,
} from '@yardmaster/store';
import { type Call, Reply, type SizeLimits } from '../call.js';
import { checkSizes, json, type Measured, payloadSize, query } from '../input/input.js';
import { type Created, withEmitDefaults } from './create.js';
import { PENDING, SCHEDULE_ID, SCHEDULE_SHOWN, SKIPPED_SCHEDULE } from './examples.js';
import { DONE, type Route, route } from './route.js';

const SCOPES = [['schedules:manage', 'jobs:create']] as const;

const NIGHTLY = {
  cron: '0 3 * * *',
  timezone: 'Europe/Berlin',
  job: { name: 'report', payload: { kind: 'daily' }, maxRetries: 5 },
};

/** Refuse payloads of jobs that are too large. @throws TOO_LARGE */
function checkPayload({ input, bytes }: Measured, limits: SizeLimits, at = ''): void {
  const { job } = input as ScheduleRequest;
  checkSizes(payloadSize('payload'), { input: job, bytes }, limits, `${at}job`);
}

function checkPayloads({ input, bytes }: Measured, limits: SizeLimits): void {
  for (const [i, one] of (input as SchedulesRequest).schedules.entries())
    checkPayload({ input: one, bytes }, limits, `schedules[${i}].`);
}

/** Apply the defaults of COMPAT=emit to the jobs of a schedule. */
const withDefaults = <R extends ScheduleRequest>(request: R, { deps }: Call): R =>
  deps.isEmit ? { ...request, job: withEmitDefaults(request.job) } : request;

/** Endpoints for schedules. */
export const SCHEDULES: readonly Route[] = [
  route({
    operation: 'putSchedule',
    method: 'PUT',
    path: '/api/v1/spaces/:spaceId/schedules/:scheduleId',
    scopes: SCOPES,
    audit: 'schedule.put',
    tag: 'Schedules',
    summary: 'Create or change a schedule',
    description:
      'Creates jobs at the times of a cron expression, or at a fixed interval. The body replaces the whole schedule, except that it stays paused or not paused unless the body has `paused`. Repeating the call changes nothing, so a deployment can make it each time. Unknown fields are refused.',
    input: json(scheduleRequest, {
      examples: { 'Every night at three': NIGHTLY, 'Every ten minutes': { everySeconds: 600, job: { name: 'poll' } } },
      isStrict: true,
      check: checkPayload,
    }),
    success: {
      status: 201,
      schema: schedule,
      examples: { 'New schedule': SCHEDULE_SHOWN },
      else200: { schema: schedule, examples: { 'Existing schedule': SKIPPED_SCHEDULE } },
    },
    refusals: ['SCHEDULE_OWNED', 'TOO_MANY_SCHEDULES', 'STORAGE_FULL'],
    async handler(call): Promise<Reply<Schedule>> {
      const { store, spaceId, id, input } = call;
      const { schedule, outcome } = await putSchedule(store, spaceId, id, withDefaults(input, call));
      const act = outcome === 'unchanged' ? null : { details: { scheduleId: id, outcome } };
      return new Reply(schedule, { act, ...(outcome !== 'created' && { status: 200 }) });
    },
  }),
  route({
    operation: 'putSchedules',
    method: 'PUT',
    path: '/api/v1/spaces/:spaceId/schedules',
    scopes: SCOPES,
    audit: 'schedule.sync',
    tag: 'Schedules',
    summary: 'Declare the schedules of an owner',
    description:
      "Creates and changes the schedules in the body, all or none; with `prune`, also deletes the owner's other schedules. A schedule without an owner is taken over; one with another owner is refused. Unknown fields are refused.",
    input: json(schedulesRequest, {
      examples: { 'One schedule': { owner: 'billing', schedules: [{ id: SCHEDULE_ID, ...NIGHTLY }], prune: true } },
      isStrict: true,
      check: checkPayloads,
    }),
    success: {
      schema: schedulesChange,
      examples: { 'One new schedule': { created: 1, changed: 0, unchanged: 0, deleted: 0 } },
    },
    refusals: ['SCHEDULE_OWNED', 'TOO_MANY_SCHEDULES', 'STORAGE_FULL'],
    async handler(call) {
      const { owner, prune } = call.input;
      const schedules = call.input.schedules.map((one) => withDefaults(one, call));
      const counts = await putSchedules(call.store, call.spaceId, { owner, prune, schedules });
      const isChanged = counts.created + counts.changed + counts.deleted > 0;
      return new Reply(counts, { act: isChanged ? { details: { owner, ...counts } } : null });
    },
  }),
  route({
    operation: 'listSchedules',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/schedules',
    scopes: ['jobs:read'],
    tag: 'Schedules',
    summary: 'List schedules',
    description: 'By creation, oldest first. A page with large payloads can have fewer schedules than `limit`.',
    input: query(listSchedulesQuery),
    success: {
      schema: scheduleList,
      examples: { 'The only page': { schedules: [SKIPPED_SCHEDULE], nextCursor: null } },
    },
    handler: ({ store, spaceId, input }) => listSchedules(store, spaceId, input),
  }),
  route({
    operation: 'getSchedule',
    method: 'GET',
    path: '/api/v1/spaces/:spaceId/schedules/:scheduleId',
    scopes: ['jobs:read'],
    tag: 'Schedules',
    summary: 'Get a schedule',
    description: 'Also shows its next times.',
    success: {
      schema: scheduleWithTimes,
      examples: { 'A schedule': { ...SCHEDULE_SHOWN, upcoming: [SCHEDULE_SHOWN.nextAt as string] } },
    },
    handler: ({ store, spaceId, id }) => getSchedule(store, spaceId, id),
  }),
  route({
    operation: 'pauseSchedule',
    method: 'PATCH',
    path: '/api/v1/spaces/:spaceId/schedules/:scheduleId',
    scopes: SCOPES,
    audit: 'schedule.pause',
    tag: 'Schedules',
    summary: 'Pause or resume a schedule',
    description: 'A paused schedule creates no jobs. Times that pass in the meantime are not made up for.',
    input: json(schedulePauseRequest, { examples: { Pause: { paused: true } }, isStrict: true }),
    success: { schema: schedule, examples: { Paused: { ...SCHEDULE_SHOWN, paused: true, nextAt: null } } },
    async handler({ store, spaceId, id, input: { paused } }) {
      const { schedule, isChanged } = await pauseSchedule(store, spaceId, id, paused);
      return new Reply(schedule, { act: isChanged ? { details: { scheduleId: id, paused } } : null });
    },
  }),
  route({
    operation: 'deleteSchedule',
    method: 'DELETE',
    path: '/api/v1/spaces/:spaceId/schedules/:scheduleId',
    scopes: SCOPES,
    audit: 'schedule.delete',
    tag: 'Schedules',
    summary: 'Delete a schedule',
    description: 'The jobs that it has created stay.',
    success: DONE,
    async handler({ store, spaceId, id }) {
      await deleteSchedule(store, spaceId, id);
      return new Reply({ success: true as const }, { act: { details: { scheduleId: id } } });
    },
  }),
  route({
    operation: 'runSchedule',
    method: 'POST',
    path: '/api/v1/spaces/:spaceId/schedules/:scheduleId/run',
    scopes: SCOPES,
    audit: 'schedule.run',
    tag: 'Schedules',
    summary: 'Run a schedule now',
    description:
      'Creates a job immediately, even while the schedule is paused, and leaves its next time unchanged. With `overlap` set to `skip`, the call is refused while the last job has not ended.',
    input: json(scheduleRunRequest, {
      examples: { 'Payload of the schedule': {}, 'Another payload': { payload: { kind: 'weekly' } } },
      sizes: payloadSize('payload'),
      isStrict: true,
    }),
    success: {
      status: 201,
      schema: createdJob,
      examples: { 'New job': { ...PENDING, scheduleId: SCHEDULE_ID, scheduledFor: PENDING.createdAt } },
      else200: { schema: createdJob, examples: { 'Job with the same unique key': PENDING } },
      link: { parameter: 'jobId', from: '/id' },
    },
    refusals: ['SCHEDULE_RUNNING', 'JOB_NOT_UNIQUE', 'SPACE_FULL', 'STORAGE_FULL', 'STORAGE_UNSAFE'],
    async handler({ store, caller, spaceId, id, input }): Promise<Reply<Created>> {
      const { jobId, isNew } = await runSchedule(store, spaceId, id, input.payload);
      const { events: _, ...job } = await getJob(store, { spaceId }, jobId, NO_EVENTS);
      const known: KnownJob = { id: job.id, name: job.name, status: job.status, createdAt: job.createdAt };
      const isShown = isNew || caller.grants.has('jobs:read');
      const act = { jobId, details: { scheduleId: id } };
      return new Reply(isShown ? job : known, { act, ...(!isNew && { status: 200 }) });
    },
  }),
];
