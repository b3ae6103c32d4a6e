import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Store } from '@yardmaster/store';
import { Feed, type FeedOptions } from './feed.js';
import { tellAppend } from './log-news.js';
import type { FramedNews } from './message.js';
import { sendMissed } from './missed.js';
import type { Session } from './session.js';

/** Live news kept while the history is read; when there are more, it is read again. */
const MAX_LIVE = 200;

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
 *
 * Appends of logs are not in the history. The seqs of the logs do for them what those of the events do for the events:
 * see tellAppend.
 */
export class JobFeed extends Feed {
  readonly #jobId: string;
  readonly #store: Store;
  readonly #log: Logger;
  /** Highest seq that has come live. */
  #newest = 0;
  /** The same of logs. */
  #newestLog = 0;
  #isCatchingUp = false;
  #mustReadAgain = false;
  /** News that have come live since the catching up began; Redis has them too, so that some may be dropped. */
  #live: FramedNews[] = [];
  /** When those are closed who saw the job end, see Session: of many random times the first would show when it ended. */
  #endPart: number | undefined;

  constructor(options: JobFeedOptions) {
    super(options);
    this.#jobId = options.jobId;
    this.#store = options.store;
    this.#log = options.log;
  }

  /**
   * Let a session in, whose init has just been sent and whose seqs are those of its snapshot.
   *
   * @param subscribedTimes as it was when the snapshot was asked for
   * @returns a function that takes it out
   */
  join(session: Session, subscribedTimes: number): () => void {
    this.sessions.add(session);
    const wasInterrupted = subscribedTimes !== this.subscribedTimes;
    const isBehind = session.seq < this.#newest || session.logSeq < this.#newestLog;
    if (isBehind || wasInterrupted || this.#isCatchingUp) void this.#catchUp();
    return () => this.sessions.delete(session);
  }

  /** Nothing to do before the connection is back: the history keeps what is missed. */
  lost(): void {}

  protected receive(framed: FramedNews): void {
    // It came right behind the confirmation, with which the history is read, and has it. Passed on before that, it would
    // hide that Redis came back with less than it had.
    if (!this.isSubscribed) return;
    const { news } = framed;
    if (news.seq === null) this.#newestLog = Math.max(this.#newestLog, news.data.toSeq);
    else this.#newest = Math.max(this.#newest, news.seq);
    if (!this.#isCatchingUp) {
      if (this.#pass(framed) === 'behind') void this.#catchUp();
    } else if (this.#live.length < MAX_LIVE) {
      this.#live.push(framed);
    } else {
      this.#mustReadAgain = true;
    }
  }

  protected resume(): void {
    // Redis may have come back with less than it had.
    this.#newest = 0;
    this.#newestLog = 0;
    void this.#catchUp();
  }

  /** Pass on what has come live. */
  #pass(framed: FramedNews): 'ok' | 'behind' {
    const { news } = framed;
    if (news.seq !== null) return this.#deliver(framed, news.seq);
    return tellAppend(this.sessions, news, { isPast: false });
  }

  /** Pass an event on to whoever needs just this one next. */
  #deliver(framed: FramedNews, seq: number): 'ok' | 'behind' {
    let outcome: 'ok' | 'behind' = 'ok';
    for (const session of this.sessions) {
      if (session.isClosing) continue; // It is not caught up any more either.
      if (seq > session.seq + 1) outcome = 'behind';
      if (seq !== session.seq + 1) continue;
      session.seq = seq;
      session.at = framed.news.at;
      session.status = framed.news.status;
      session.deliver(framed);
      if (!framed.isTerminal) continue;
      this.#endPart ??= session.random();
      session.end(this.#endPart);
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
        await sendMissed({
          jobId: this.#jobId,
          store: this.#store,
          sessions: this.sessions,
          deliver: (framed, seq) => this.#deliver(framed, seq),
        });
        for (const framed of this.#live.splice(0)) {
          if (this.#pass(framed) === 'behind') this.#mustReadAgain = true;
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
}
