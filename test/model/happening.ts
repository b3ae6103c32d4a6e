import type { EventType, JsonValue } from '@yardmaster/protocol';
import type { ModelJob, ModelNews, World } from './world.js';

/** Write what has happened into the history and tell the watchers. `created` stays when the oldest are dropped. */
export function happen(world: World, job: ModelJob, type: EventType, data: JsonValue = null): void {
  const { now, settings } = world;
  const seq = (job.events.at(-1)?.seq ?? 0) + 1;
  const at = type === 'created' ? job.createdAt : now;
  job.events.push({ seq, type, data, at, status: job.status });
  if (job.events.length > settings.eventsPerJob) job.events.splice(1, 1);
  tell(world, job, { seq, type, data, at });
}

/** Publish about a job, as it is now. */
export function tell({ news }: World, job: ModelJob, what: Pick<ModelNews, 'seq' | 'type' | 'data' | 'at'>): void {
  const { id: jobId, spaceId, status, request } = job;
  const told = { jobId, jobName: request.name, spaceId, status, ...what };
  news.set(jobId, [...(news.get(jobId) ?? []), told]);
}
