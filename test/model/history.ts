import type { EventType, JsonValue } from '@yardmaster/protocol';
import type { ModelJob, ModelMessage, World } from './world.js';

/** A limit in bytes that is always exceeded. No other limit is reached. */
export const NO_BYTES = 1;

/** Entries of a list that stay, whatever memory they take. */
export const LEAST_KEPT = 10;

/** Append an event to the history and publish it. `created` stays when the oldest events are dropped. */
export function recordEvent(world: World, job: ModelJob, type: EventType, data: JsonValue = null): void {
  const { now, settings } = world;
  const seq = (job.events.at(-1)?.seq ?? 0) + 1;
  const at = type === 'created' ? job.createdAt : now;
  job.events.push({ seq, type, data, at, status: job.status });
  const isFull = job.events.length > settings.eventsPerJob;
  if (isFull) job.events.splice(1, 1);
  const [created, ...others] = job.events;
  const isMeasured = (isFull ? seq : others.length) % 16 === 0;
  if (created && isMeasured && settings.eventBytesPerJob === NO_BYTES)
    job.events = [created, ...others.slice(-LEAST_KEPT)];
  publish(world, job, { seq, type, data, at });
}

/** Publish a message about a job with its current status. */
export function publish(
  { messages }: World,
  job: ModelJob,
  event: Pick<ModelMessage, 'seq' | 'type' | 'data' | 'at'>,
): void {
  const { id: jobId, spaceId, status, request } = job;
  const tags = request.tags ?? null;
  const message = { jobId, jobName: request.name, spaceId, status, ...event, ...(tags && { tags }) };
  messages.set(jobId, [...(messages.get(jobId) ?? []), message]);
}
