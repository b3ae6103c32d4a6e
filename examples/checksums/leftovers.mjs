import { attemptsBefore, failForWorker, hasEnded, hasJobs, listJobs } from './space-jobs.mjs';

/**
 * Finds the jobs that are left in the space while every worker is idle. There are none when the run is over. Otherwise
 * no worker has them, for example because the response of a poll was lost. They are failed, so that they are retried.
 *
 * A job that no worker seems to have may be in a response that a worker is about to report. So at first it is only a
 * suspect, and a new round begins. Once every worker is idle in that round, each has reported the jobs that it got
 * before the look; a suspect that is still there belongs to no worker.
 */
export class Leftovers {
  #call;
  #space;
  #note;
  /** Jobs that no worker seemed to have at the last look: id → attemptsBefore. */
  #suspects = new Map();

  constructor({ call, space, note }) {
    this.#call = call;
    this.#space = space;
    this.#note = note;
  }

  /**
   * Look once. Between two looks every worker must have been idle after a poll that began after the first.
   *
   * @param hasWorker whether a worker has the job of this id; asked after the jobs were listed
   * @returns every job of the space if all have ended, else null
   */
  async look(hasWorker) {
    const abandoned = await this.#withoutWorker(hasWorker);
    for (const attempt of abandoned) {
      const isOrphan = this.#suspects.get(attempt.id) === attempt.attemptsBefore;
      if (isOrphan && (await failForWorker(this.#call, attempt))) {
        this.#note(`Failed job ${attempt.id}, which no worker has`);
      }
    }
    this.#suspects = new Map(abandoned.map((attempt) => [attempt.id, attempt.attemptsBefore]));
    return abandoned.length === 0 ? this.#allEnded() : null;
  }

  async #withoutWorker(hasWorker) {
    const delivered = await listJobs(this.#call, this.#space, 'delivered');
    const running = await listJobs(this.#call, this.#space, 'running');
    return [...delivered, ...running]
      .filter(({ id }) => !hasWorker(id))
      .map((job) => ({ id: job.id, attemptsBefore: attemptsBefore(job) }));
  }

  async #allEnded() {
    // This avoids reading the whole space while there is work.
    if (await hasJobs(this.#call, this.#space, 'pending')) return null;
    // The lists by status were not taken at one moment. This list decides, because an ended job stays ended.
    const all = await listJobs(this.#call, this.#space);
    return all.every(hasEnded) ? all : null;
  }
}
