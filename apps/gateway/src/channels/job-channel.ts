import { isTerminal, YardmasterError } from '@yardmaster/protocol';
import type { Logger } from '@yardmaster/runtime';
import type { Store } from '@yardmaster/store';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel, type ChannelOptions } from './channel.js';
import { type Cursor, JobSubscriber, type SendOutcome } from './job-subscriber.js';
import { sendAppend } from './log-appends.js';
import { replayMissed } from './replay.js';

/** Live events that are kept while the history is read. When more come, the history is read again. */
const MAX_LIVE = 200;

export interface JobChannelOptions extends ChannelOptions {
  jobId: string;
  store: Store;
}

/**
 * The channel of one job. It sends each event to every subscriber exactly once and in order.
 *
 * The seqs of events have no gaps, and the cursor of each subscriber has the last seq that its client knows. An event
 * at or below that seq is old. An event beyond the next seq means that an event is missing. It happened between
 * snapshot and subscription, or the connection was lost. Missing events are read from the job's history. Events that
 * come live meanwhile wait until that is done.
 *
 * Appends of logs are not in the history. For them, the seqs of log entries have the role that the seqs of events have
 * for events: see sendAppend.
 */
export class JobChannel extends Channel {
  readonly #jobId: string;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #subscribers = new Set<JobSubscriber>();
  /** Highest seq of an event that has come live. */
  #newestSeq = 0;
  /** Highest seq of a log entry that has come live. */
  #newestLogSeq = 0;
  #isCatchingUp = false;
  #mustReadAgain = false;
  /** Events that have come live since the replay began. Redis has them too, so some of them may be dropped. */
  #live: OutgoingMessage[] = [];
  /**
   * Random fraction for the close of the streams that were open at the end of the job, see Session. They share it,
   * because the first of many random times would show when the job ended.
   */
  #endFraction: number | undefined;

  constructor(options: JobChannelOptions) {
    super(options);
    this.#jobId = options.jobId;
    this.#store = options.store;
    this.#log = options.log;
  }

  /**
   * Attach a session whose init has just been sent.
   *
   * @param snapshot state that the init contained
   * @param subscribedTimes its value when the snapshot was requested
   * @returns a function that detaches the session
   */
  attach(session: Session, snapshot: Cursor, subscribedTimes: number): () => void {
    const subscriber = new JobSubscriber(session, snapshot);
    this.#subscribers.add(subscriber);
    const wasInterrupted = subscribedTimes !== this.subscribedTimes;
    const isBehind = snapshot.seq < this.#newestSeq || snapshot.logSeq < this.#newestLogSeq;
    if (isBehind || wasInterrupted || this.#isCatchingUp) void this.#catchUp();
    return () => this.#subscribers.delete(subscriber);
  }

  /** Do nothing before the connection is back, because the history keeps the missed events. */
  lost(): void {}

  protected *sessions(): Iterable<Session> {
    for (const { session } of this.#subscribers) yield session;
  }

  protected receive(encoded: OutgoingMessage): void {
    // The event came right after Redis confirmed the subscription. The confirmation starts a read of the history, which
    // contains the event. Sent before that read, it would hide that Redis came back with less than it had.
    if (!this.isSubscribed) return;
    const { event } = encoded;
    if (event.seq === null) this.#newestLogSeq = Math.max(this.#newestLogSeq, event.data.toSeq);
    else this.#newestSeq = Math.max(this.#newestSeq, event.seq);
    if (!this.#isCatchingUp) {
      if (this.#sendLive(encoded) === 'behind') void this.#catchUp();
    } else if (this.#live.length < MAX_LIVE) {
      this.#live.push(encoded);
    } else {
      this.#mustReadAgain = true;
    }
  }

  protected resume(): void {
    // Redis may have come back with less than it had.
    this.#newestSeq = 0;
    this.#newestLogSeq = 0;
    void this.#catchUp();
  }

  #sendLive(encoded: OutgoingMessage): SendOutcome {
    const { event } = encoded;
    if (event.seq !== null) return this.#sendEvent(encoded, event.seq);
    return sendAppend(this.#subscribers, event, { isReplay: false });
  }

  /** Send an event to each subscriber that needs exactly this one next. */
  #sendEvent(encoded: OutgoingMessage, seq: number): SendOutcome {
    let outcome: SendOutcome = 'ok';
    const { type } = encoded.event;
    const end = isTerminal(type) ? type : null;
    for (const subscriber of this.#subscribers) {
      const { session, cursor } = subscriber;
      if (session.isClosing) continue; // The replay leaves it out as well.
      if (seq > cursor.seq + 1) outcome = 'behind';
      if (seq !== cursor.seq + 1) continue;
      subscriber.sendNext(encoded);
      if (end === null) continue;
      this.#endFraction ??= session.random();
      session.end(end, this.#endFraction);
    }
    return outcome;
  }

  /** Replay the missed events to subscribers, and then send the live events that arrived meanwhile. */
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
          subscribers: this.#subscribers,
          sendEvent: (encoded, seq) => this.#sendEvent(encoded, seq),
        });
        for (const encoded of this.#live.splice(0)) {
          if (this.#sendLive(encoded) === 'behind') this.#mustReadAgain = true;
        }
      } while (this.#mustReadAgain);
    } catch (err) {
      if (!(err instanceof YardmasterError)) this.#log.error({ err, jobId: this.#jobId }, 'missed events not sent');
      this.interrupt();
    } finally {
      this.#live = [];
      this.#isCatchingUp = false;
    }
  }
}
