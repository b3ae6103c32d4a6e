import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inParallel } from './in-parallel.mjs';
import { typesOfWorker } from './job-types.mjs';
import { Leftovers } from './leftovers.mjs';
import { failForWorker } from './space-jobs.mjs';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

/** How long a worker may take to end before it is killed. */
const END_WITHIN_MS = 2_000;

/**
 * Keeps the workers alive, and ensures that each job of the space ends.
 *
 *   start() → forked, polling → crashed: its jobs are failed for it, another is started in its place
 *   allCreated() → once all workers are idle: find the jobs that are left, see `Leftovers` → `ended` resolves
 *   stop() → every worker has exited
 *
 * Workers report over IPC: `claimed` with the jobs of a poll before they ack them, `done` with each outcome, `idle`
 * after an empty poll.
 */
export class Supervisor {
  /**
   * Place → `{ place, child, attempts (by job id), idleRound, hasSpoken }`; a crashed one stays until its jobs are
   * failed.
   */
  #workers = new Map();
  #options;
  #isComplete = false;
  #isSettling = false;
  #isStopping = false;
  #round = 0;
  #leftovers;
  #killAt;
  #victim = null;
  #finish;
  #giveUp;

  /** Resolves with every job of the space once all have ended; rejects when that is impossible. */
  ended = new Promise((resolve, reject) => {
    this.#finish = resolve;
    this.#giveUp = reject;
  });
  /** Ids of the jobs whose completion or death a worker reported. */
  settled = new Set();

  /**
   * @param options.call client for listing, ack and fail
   * @param options.workers how many processes
   * @param options.env for the workers: address of the service, and their key
   * @param options.killOneAt kill a worker once so many jobs are settled; default never
   * @param options.note takes a line for the person who watches
   * @param options.onProgress called whenever `settled` may have grown
   */
  constructor(options) {
    this.#options = options;
    this.#leftovers = new Leftovers(options);
    this.#killAt = options.killOneAt ?? Number.POSITIVE_INFINITY;
  }

  start() {
    for (let place = 0; place < this.#options.workers; place++) this.#fork(place);
  }

  /** No more jobs will be created: from now on, idle workers mean that the run may be over. */
  allCreated() {
    this.#isComplete = true;
    this.#settleIfIdle();
  }

  async stop() {
    this.#isStopping = true;
    await Promise.all([...this.#workers.values()].map(({ child }) => end(child)));
  }

  #fork(place) {
    const env = { ...process.env, ...this.#options.env, CHECKSUMS_TYPES: typesOfWorker(place).join() };
    const worker = { place, child: fork(WORKER, { env }), attempts: new Map(), idleRound: -1, hasSpoken: false };
    this.#workers.set(place, worker);
    worker.child.on('error', this.#giveUp);
    worker.child.on('message', (message) => this.#receive(worker, message));
    // Listen to 'close' and not to 'exit', because at 'close' all output of the worker has been read.
    worker.child.on('close', (code, signal) => this.#replace(worker, signal ?? `exit ${code}`).catch(this.#giveUp));
    worker.child.send({ round: this.#round }, ignoreEnd);
  }

  #receive(worker, message) {
    worker.hasSpoken = true;
    worker.idleRound = message.type === 'idle' ? message.round : -1;
    if (message.type === 'claimed') {
      for (const attempt of message.jobs) worker.attempts.set(attempt.id, attempt);
      this.#killIfDue(worker);
    }
    if (message.type === 'done') {
      worker.attempts.delete(message.id);
      if (message.outcome === 'completed' || message.outcome === 'dead') this.settled.add(message.id);
      this.#options.onProgress();
    }
    this.#settleIfIdle();
  }

  #killIfDue(worker) {
    if (this.settled.size < this.#killAt) return;
    this.#killAt = Number.POSITIVE_INFINITY;
    this.#victim = worker;
    this.#options.note(`Killing ${nameOf(worker)} with kill -9 while it has ${jobs(worker.attempts.size)}`);
    worker.child.kill('SIGKILL');
  }

  async #replace(worker, cause) {
    if (this.#isStopping) return;
    // The next worker would fail in the same way, unless a Ctrl-C came before this one could listen for it.
    const isInterrupted = cause === 'SIGINT' || cause === 'SIGTERM';
    if (!worker.hasSpoken && !isInterrupted) throw new Error(`${nameOf(worker)} died at once (${cause})`);
    let failed = 0;
    await inParallel([...worker.attempts.values()], 8, async (attempt) => {
      if (await failForWorker(this.#options.call, attempt)) failed += 1;
    });
    this.#options.note(`${nameOf(worker)} died (${cause}): failed ${jobs(failed)} on its behalf, starting another`);
    // It had finished all its jobs before the signal, which shows nothing, so kill another.
    if (worker === this.#victim && failed === 0) this.#killAt = 0;
    if (!this.#isStopping) this.#fork(worker.place);
  }

  /** A worker is idle in this round when its last poll was empty, and began after it had received the round. */
  #settleIfIdle() {
    const isIdle = ({ attempts, idleRound }) => attempts.size === 0 && idleRound >= this.#round;
    if (!this.#isComplete || this.#isSettling || this.#isStopping) return;
    if (![...this.#workers.values()].every(isIdle)) return;
    this.#isSettling = true;
    this.#settle()
      .catch(this.#giveUp)
      .finally(() => {
        this.#isSettling = false;
      });
  }

  async #settle() {
    const hasWorker = (id) => [...this.#workers.values()].some(({ attempts }) => attempts.has(id));
    const jobs = await this.#leftovers.look(hasWorker);
    if (jobs !== null) this.#finish(jobs);
    this.#round += 1;
    for (const { child } of this.#workers.values()) child.send({ round: this.#round }, ignoreEnd);
  }
}

/** With a callback, a message to a worker that just ended is no error; its 'close' event reports the end. */
const ignoreEnd = () => {};

const nameOf = ({ place, child }) => `Worker ${place + 1} (pid ${child.pid})`;

const jobs = (count) => `${count} ${count === 1 ? 'job' : 'jobs'}`;

/** A worker ends when its channel closes; one that is stuck is killed. */
function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
    // Do not wait for 'close', because Node does not emit it after we have closed the channel.
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    if (child.connected) child.disconnect();
  });
}
