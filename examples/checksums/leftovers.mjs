import { attemptsBefore, failForWorker, hasEnded, hasJobs, listJobs } from './space-jobs.mjs';

/**
 * What is left in the space while every worker is idle: nothing, when the run is over; or jobs that nobody holds, such
 * as those of a poll whose answer was lost with the worker, or on its way. These are failed, to be retried.
 *
 * A job that nobody seems to hold may be in an answer that a worker is about to tell of. So at first it is only a
 * suspect, and a new round begins. Once every worker is idle in that round, each has told of whatever it got before
 * we looked; a suspect that is still there belongs to nobody.
 */
export class Leftovers {
  #call;
  #space;
  #note;
  /** What nobody seemed to hold at the last look: id → attemptsBefore. */
  #suspects = new Map();

  constructor({ call, space, note }) {
    this.#call = call;
    this.#space = space;
    this.#note = note;
  }

  /**
   * Look once. Between two looks every worker must have been idle after a poll that began after the first.
   *
   * @param isHeld whether a worker holds the job of this id; asked after the jobs were listed
   * @returns every job of the space if all have ended, else null
   */
  async look(isHeld) {
    const loose = await this.#heldByNobody(isHeld);
    for (const attempt of loose) {
      const isOrphan = this.#suspects.get(attempt.id) === attempt.attemptsBefore;
      if (isOrphan && (await failForWorker(this.#call, attempt))) {
        this.#note(`Failed job ${attempt.id}, which no worker holds`);
      }
    }
    this.#suspects = new Map(loose.map((attempt) => [attempt.id, attempt.attemptsBefore]));
    return loose.length === 0 ? this.#allEnded() : null;
  }

  async #heldByNobody(isHeld) {
    const delivered = await listJobs(this.#call, this.#space, 'delivered');
    const running = await listJobs(this.#call, this.#space, 'running');
    return [...delivered, ...running]
      .filter(({ id }) => !isHeld(id))
      .map((job) => ({ id: job.id, attemptsBefore: attemptsBefore(job) }));
  }

  async #allEnded() {
    // Spares reading the whole space while there is work.
    if (await hasJobs(this.#call, this.#space, 'pending')) return null;
    // The lists by status were not taken at one moment. This one decides: what has ended stays so.
    const all = await listJobs(this.#call, this.#space);
    return all.every(hasEnded) ? all : null;
  }
}
