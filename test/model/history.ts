import type { EventType, JsonValue } from '@yardmaster/protocol';
import type { ModelJob, ModelMessage, World } from './world.js';

/** Append an event to the history and publish it. `created` stays when the oldest events are dropped. */
export function recordEvent(world: World, job: ModelJob, type: EventType, data: JsonValue = null): void {
  const { now, settings } = world;
  const seq = (job.events.at(-1)?.seq ?? 0) + 1;
  const at = type === 'created' ? job.createdAt : now;
  job.events.push({ seq, type, data, at, status: job.status });
  if (job.events.length > settings.eventsPerJob) job.events.splice(1, 1);
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
