import { CLOSE_CODES, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Store } from '@yardmaster/store';
import type { EncodedEvent } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel, type ChannelOptions } from './channel.js';
import { sendAppend } from './log-appends.js';
import { replayMissed } from './replay.js';

/** Live events that are kept while the history is read. When more come, the history is read again. */
const MAX_LIVE = 200;

export interface JobChannelOptions extends ChannelOptions {
  jobId: string;
  store: Store;
}

/**
 * The channel of one job. It sends each event to every session exactly once and in order.
 *
 * The seqs of events have no gaps, and each session knows the last seq it has, from its snapshot or from a message. An
 * event at or below that seq is old. An event beyond the next seq means that an event is missing, whatever the reason:
 * it happened between snapshot and subscription, or the connection was lost. Missing events are read from the job's
 * history. Events that come live meanwhile wait until that is done.
 *
 * Appends of logs are not in the history. For them, the seqs of log entries do what the seqs of events do for events:
 * see sendAppend.
 */
export class JobChannel extends Channel {
  readonly #jobId: string;
  readonly #store: Store;
  readonly #log: Logger;
  /** Highest seq of an event that has come live. */
  #newest = 0;
  /** Highest seq of a log entry that has come live. */
  #newestLog = 0;
  #isCatchingUp = false;
  #mustReadAgain = false;
  /** Events that have come live since the replay began. Redis has them too, so some of them may be dropped. */
  #live: EncodedEvent[] = [];
  /**
   * Part of the random time after which the sessions are closed that were open at the end of the job, see Session. They
   * share it, because the first of many random times would show when the job ended.
   */
  #endPart: number | undefined;

  constructor(options: JobChannelOptions) {
    super(options);
    this.#jobId = options.jobId;
    this.#store = options.store;
    this.#log = options.log;
  }

  /**
   * Attach a session whose init has just been sent and whose seqs are those of its snapshot.
   *
   * @param subscribedTimes its value when the snapshot was requested
   * @returns a function that detaches it
   */
  attach(session: Session, subscribedTimes: number): () => void {
    this.sessions.add(session);
    const wasInterrupted = subscribedTimes !== this.subscribedTimes;
    const isBehind = session.seq < this.#newest || session.logSeq < this.#newestLog;
    if (isBehind || wasInterrupted || this.#isCatchingUp) void this.#catchUp();
    return () => this.sessions.delete(session);
  }

  /** Do nothing before the connection is back, because the history keeps what is missed. */
  lost(): void {}

  protected receive(encoded: EncodedEvent): void {
    // The event came right after Redis confirmed the subscription. The confirmation starts a read of the history, which
    // contains the event. Sent before that read, it would hide that Redis came back with less than it had.
    if (!this.isSubscribed) return;
    const { event: news } = encoded;
    if (news.seq === null) this.#newestLog = Math.max(this.#newestLog, news.data.toSeq);
    else this.#newest = Math.max(this.#newest, news.seq);
    if (!this.#isCatchingUp) {
      if (this.#pass(encoded) === 'behind') void this.#catchUp();
    } else if (this.#live.length < MAX_LIVE) {
      this.#live.push(encoded);
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

  /** Send an event or an append that has come live. */
  #pass(encoded: EncodedEvent): 'ok' | 'behind' {
    const { event: news } = encoded;
    if (news.seq !== null) return this.#deliver(encoded, news.seq);
    return sendAppend(this.sessions, news, { isPast: false });
  }

  /** Send an event to each session that needs exactly this one next. */
  #deliver(encoded: EncodedEvent, seq: number): 'ok' | 'behind' {
    let outcome: 'ok' | 'behind' = 'ok';
    for (const session of this.sessions) {
      if (session.isClosing) continue; // The replay leaves it out as well.
      if (seq > session.seq + 1) outcome = 'behind';
      if (seq !== session.seq + 1) continue;
      session.seq = seq;
      session.at = encoded.event.at;
      session.status = encoded.event.status;
      session.send(encoded);
      if (!encoded.isTerminal) continue;
      this.#endPart ??= session.random();
      session.end(this.#endPart);
    }
    return outcome;
  }

  /** Replay what sessions have missed, and then send what came live meanwhile. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) {
      this.#mustReadAgain = true;
      return;
    }
    this.#isCatchingUp = true;
    try {
      do {
        this.#mustReadAgain = false;
        await replayMissed({
          jobId: this.#jobId,
          store: this.#store,
          sessions: this.sessions,
          deliver: (encoded, seq) => this.#deliver(encoded, seq),
        });
        for (const encoded of this.#live.splice(0)) {
          if (this.#pass(encoded) === 'behind') this.#mustReadAgain = true;
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
