import type { AnyJobs, JobTypes, NameOf, ResultOf } from '../job-types.js';
import { jsonOf } from '../json.js';
import type {
  KnownJob,
  Schedule,
  ScheduleList,
  ScheduleRequest,
  ScheduleRun,
  SchedulesChange,
  SchedulesRequest,
  ScheduleWithTimes,
} from '../wire.generated.js';
import { JobHandle } from './job-handle.js';
import { pagesOf, type Sender, spacePath } from './transport.js';

/** Manages the schedules of the space, which create jobs at recurring times. */
export class Schedules<Jobs extends JobTypes<Jobs> = AnyJobs> {
  readonly #client: Sender;

  constructor(client: Sender) {
    this.#client = client;
  }

  #path(rest = ''): string {
    return spacePath(this.#client.target, `/schedules${rest}`);
  }

  #pathOf(id: string, rest = ''): string {
    return this.#path(`/${encodeURIComponent(id)}${rest}`);
  }

  /**
   * Create a schedule, or replace the existing one. Without `paused`, an existing schedule stays paused or not paused.
   *
   * @throws YardmasterError `SCHEDULE_OWNED`, `TOO_MANY_SCHEDULES`
   */
  async put(id: string, schedule: ScheduleRequest, signal?: AbortSignal): Promise<Schedule> {
    return this.#client.send({ method: 'PUT', path: this.#pathOf(id), body: jsonOf(schedule, 'schedule') }, signal);
  }

  /**
   * Declare the schedules of an owner, all or none. With `prune`, the owner's other schedules are deleted.
   *
   * @throws YardmasterError `SCHEDULE_OWNED`, `TOO_MANY_SCHEDULES`
   */
  async sync(declared: SchedulesRequest, signal?: AbortSignal): Promise<SchedulesChange> {
    return this.#client.send({ method: 'PUT', path: this.#path(), body: jsonOf(declared, 'declared') }, signal);
  }

  /** List the schedules of the space, page by page, oldest first. */
  list(signal?: AbortSignal): AsyncGenerator<Schedule, void, undefined> {
    return pagesOf(async (cursor) => {
      const path = this.#path(`?limit=100${cursor}`);
      const { schedules, nextCursor } = await this.#client.send<ScheduleList>({ method: 'GET', path }, signal);
      return { items: schedules, nextCursor };
    });
  }

  /** Return a schedule with its next times. @throws YardmasterError `SCHEDULE_NOT_FOUND` */
  get(id: string, signal?: AbortSignal): Promise<ScheduleWithTimes> {
    return this.#client.send({ method: 'GET', path: this.#pathOf(id) }, signal);
  }

  /**
   * Create a job immediately, even while the schedule is paused. The call isn't retried after a lost response, because
   * a retry could make a second job.
   *
   * @param options.payload payload of the job. Default: the payload of the schedule
   * @throws YardmasterError `SCHEDULE_RUNNING` with the `jobId` of the last job, `SCHEDULE_NOT_FOUND`
   */
  async run(
    id: string,
    { signal, ...body }: ScheduleRun & { signal?: AbortSignal } = {},
  ): Promise<JobHandle<ResultOf<Jobs, NameOf<Jobs>>>> {
    const request = { method: 'POST', path: this.#pathOf(id, '/run'), isOnce: true } as const;
    const job = await this.#client.send<KnownJob>({ ...request, body: jsonOf(body, 'options') }, signal);
    return new JobHandle(this.#client, job);
  }

  /** Stop creating jobs until `resume`. Times that pass in the meantime are not made up for. */
  pause(id: string, signal?: AbortSignal): Promise<Schedule> {
    return this.#setPaused(id, true, signal);
  }

  /** Create jobs again, from the next time on. */
  resume(id: string, signal?: AbortSignal): Promise<Schedule> {
    return this.#setPaused(id, false, signal);
  }

  #setPaused(id: string, paused: boolean, signal?: AbortSignal): Promise<Schedule> {
    return this.#client.send({ method: 'PATCH', path: this.#pathOf(id), body: JSON.stringify({ paused }) }, signal);
  }

  /**
   * Delete a schedule; the jobs that it has created stay. After a lost response, a retry may throw `SCHEDULE_NOT_FOUND`
   * although the schedule was deleted.
   */
  async delete(id: string, signal?: AbortSignal): Promise<void> {
    await this.#client.send({ method: 'DELETE', path: this.#pathOf(id) }, signal);
  }
}
