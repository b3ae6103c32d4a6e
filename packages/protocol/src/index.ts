export * from './audit.js';
export * from './callback.js';
export * from './errors.js';
export * from './find.js';
export * from './jobs/events.js';
export * from './jobs/get.js';
export * from './jobs/job.js';
export * from './jobs/job-id.js';
export * from './jobs/poll.js';
export * from './jobs/progress.js';
export * from './jobs/requests.js';
export * from './jobs/settle.js';
export * from './jobs/statuses.js';
export * from './jobs/timing.js';
export * from './jobs/transitions.js';
export * from './jobs/unique.js';
export * from './key.js';
export * from './limits.js';
export * from './logs/levels.js';
export * from './logs/logs.js';
export * from './operations.js';
export * from './schedules/schedule.js';
export * from './schedules/times.js';
export { describeAs, openApiSchemaOf } from './schema/describe.js';
export {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameFilter,
  queryInteger,
  spaceId,
  tag,
} from './schema/fields.js';
export { doneResponse, instant, jobStatus } from './schema/response-fields.js';
export * from './schema/validate.js';
export * from './scopes.js';
export * from './spaces/settings.js';
export * from './spaces/stats.js';
export * from './streams/close-codes.js';
export { isStreamType, STREAM_TYPES, type StreamType } from './streams/event-messages.js';
export * from './streams/stream-token.js';
export * from './streams/streams.js';
