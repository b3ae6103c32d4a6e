import { setTimeout as delay } from 'node:timers/promises';
import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import { readSince, type Store } from '@yardmaster/store';
import { Feed, type FeedOptions } from './feed.js';
import { FramedEvent } from './message.js';
import { Patience } from './patience.js';
import type { Session } from './session.js';

/** Live events kept while the history is read; when there are more, it is read again. */
const MAX_LIVE = 200;

/** How often, and how far apart, what was missed is asked for while Redis does not answer. */
const ATTEMPTS = 20;
const ATTEMPT_EVERY_MS = 250;

export interface JobFeedOptions extends FeedOptions {
  jobId: string;
  store: Store;
}

/**
 * The events of one job, each to every session exactly once and in order.
 *
 * The seq of events is dense, and each session knows the last one it has: by its snapshot, or by a message. An event
 * at or below that is old. One that is further ahead than the next means that something is missing, whatever the
 * reason: it happened between snapshot and subscription, or the connection was lost. What is missing is read from the
 * job's history; what comes live meanwhile waits until that is done.
 */
export class JobFeed extends Feed {
  readonly #jobId: string;
  readonly #store: Store;
  readonly #log: Logger;
  /** Highest seq that has come live. */
  #newest = 0;
  #isCatchingUp = false;
  #mustReadAgain = false;
  /** Events that have come live since the catching up began; the history has them too, so that some may be dropped. */
  #live: FramedEvent[] = [];

  constructor(options: JobFeedOptions) {
    super(options);
    this.#jobId = options.jobId;
    this.#store = options.store;
    this.#log = options.log;
  }

  /**
   * Let a session in, whose init has just been sent and whose `seq` is that of its snapshot.
   *
   * @param subscribedTimes as it was when the snapshot was asked for
   * @returns a function that takes it out
   */
  join(session: Session, subscribedTimes: number): () => void {
    this.sessions.add(session);
    const wasInterrupted = subscribedTimes !== this.subscribedTimes;
    if (session.seq < this.#newest || wasInterrupted || this.#isCatchingUp) void this.#catchUp();
    return () => this.sessions.delete(session);
  }

  /** Nothing to do before the connection is back: the history keeps what is missed. */
  lost(): void {}

  protected receive(framed: FramedEvent): void {
    const { seq } = framed.event;
    if (seq === null) {
      for (const session of this.sessions) session.deliver(framed);
      return;
    }
    this.#newest = Math.max(this.#newest, seq);
    if (!this.#isCatchingUp) {
      if (this.#deliver(framed, seq) === 'behind') void this.#catchUp();
    } else if (this.#live.length < MAX_LIVE) {
      this.#live.push(framed);
    } else {
      this.#mustReadAgain = true;
    }
  }

  protected resume(): void {
    this.#newest = 0; // Redis may have come back with less than it had.
    void this.#catchUp();
  }

  /** Pass an event on to whoever needs just this one next. */
  #deliver(framed: FramedEvent, seq: number): 'ok' | 'behind' {
    let outcome: 'ok' | 'behind' = 'ok';
    for (const session of this.sessions) {
      if (seq > session.seq + 1) outcome = 'behind';
      if (seq !== session.seq + 1) continue;
      session.seq = seq;
      session.deliver(framed);
      if (framed.isTerminal) session.end();
    }
    return outcome;
  }

  /** Read what sessions miss from the history, and then pass on what came live meanwhile. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) {
      this.#mustReadAgain = true;
      return;
    }
    this.#isCatchingUp = true;
    try {
      do {
        this.#mustReadAgain = false;
        await this.#readMissed();
        for (const framed of this.#live.splice(0)) {
          if (this.#deliver(framed, framed.event.seq as number) === 'behind') this.#mustReadAgain = true;
        }
      } while (this.#mustReadAgain);
    } catch (err) {
      if (!(err instanceof YardmasterError)) this.#log.error({ err, jobId: this.#jobId }, 'stream not caught up');
      for (const session of this.sessions) session.close(CLOSE_CODES.interrupted);
    } finally {
      this.#live = [];
      this.#isCatchingUp = false;
    }
  }

  async #readMissed(): Promise<void> {
    const patience = new Patience(this.sessions);
    for (let isMore = true; isMore; ) {
      const before = [...this.sessions].filter(({ isClosing }) => !isClosing);
      if (before.length === 0) return;
      const fromSeq = before.reduce((lowest, { seq }) => Math.min(lowest, seq), Number.POSITIVE_INFINITY) + 1;
      const { events, lastSeq } = await this.#read(fromSeq);
      // The oldest that is left; when nothing is new, the one that would come next.
      const firstSeq = events[0]?.seq ?? lastSeq + 1;
      for (const session of before) {
        // Either the history has dropped what this client needs next, or Redis came back with less than it had,
        // and what this client was shown did not last.
        if (firstSeq > session.seq + 1 || session.seq > lastSeq) session.close(CLOSE_CODES.interrupted);
      }
      for (const event of events) {
        await patience.waitFor(this.sessions);
        this.#deliver(new FramedEvent(event), event.seq);
      }
      isMore = events.length > 0 && firstSeq + events.length <= lastSeq;
    }
  }

  /** Ask for a portion of the history; for a while also when Redis, coming back, does not answer yet. */
  async #read(fromSeq: number) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store.inTurn(() => readSince(this.#store, this.#jobId, fromSeq));
      } catch (error) {
        const mayPass = error instanceof YardmasterError && error.code === 'UNAVAILABLE' && attempt < ATTEMPTS;
        if (!mayPass || this.sessions.size === 0) throw error;
      }
      await delay(ATTEMPT_EVERY_MS);
    }
  }
}
