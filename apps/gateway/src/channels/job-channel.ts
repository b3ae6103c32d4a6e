import { CLOSE_CODES, isTerminal, type Status, YardmasterError } from '@yardmaster/protocol';
import type { Store } from '@yardmaster/store';
import type { OutgoingMessage } from '../messages.js';
import type { Session } from '../sockets/session.js';
import { Channel, type ChannelOptions } from './channel.js';
import { type Cursor, JobSubscriber, type SendOutcome, sendAppend } from './job-subscriber.js';
import { replayMissed } from './replay.js';

/** Maximum number of live events kept while the history is read. If more arrive, the history is read again. */
const MAX_LIVE = 200;

export interface JobChannelOptions extends ChannelOptions {
  jobId: string;
  store: Store;
}

/**
 * The channel of a job. It sends each event to every subscriber exactly once and in order.
 *
 * The seqs of events have no gaps, and each subscriber's cursor holds the last seq that its client knows. An event at or
 * below it is old. An event beyond the next seq means that events are missing, because they happened between snapshot and
 * subscription or the connection was lost. They are read from the job's history; live events that arrive in the meantime
 * wait until that is done.
 *
 * Log appends are not in the history. For them, the seqs of log entries play the role of event seqs; see sendAppend.
 */
export class JobChannel extends Channel<JobChannelOptions> {
  readonly #subscribers = new Set<JobSubscriber>();
  /** Highest seq of an event received live. */
  #newestSeq = 0;
  /** Highest seq of a log entry received live. */
  #newestLogSeq = 0;
  #isCatchingUp = false;
  #mustReadAgain = false;
  /** Events received live since the replay started. Redis has them as well, so it is fine to drop some. */
  #live: OutgoingMessage[] = [];
  /**
   * Random fraction for closing the streams that were open when the job ended; see Session. They share it, because the
   * shortest of many random times would reveal when the job ended.
   */
  #endFraction: number | undefined;

  /**
   * Attach a session whose init has just been sent.
   *
   * @param snapshot state sent in the init
   * @param since seq of the last event that the client has; later events are sent first
   * @param subscribedTimes value of the property when the snapshot was requested
   * @returns a function that detaches the session
   */
  attach(session: Session, snapshot: Cursor, since: number, subscribedTimes: number): () => void {
    const subscriber = new JobSubscriber(session, { ...snapshot, seq: since });
    if (since === snapshot.seq) {
      this.#add(subscriber, subscribedTimes);
      if (isTerminal(snapshot.status)) session.end(snapshot.status);
    } else {
      void this.#replayAlone(subscriber, subscribedTimes);
    }
    return () => this.#subscribers.delete(subscriber);
  }

  #add(subscriber: JobSubscriber, subscribedTimes: number): void {
    const { seq, logSeq } = subscriber.cursor;
    this.#subscribers.add(subscriber);
    const wasInterrupted = subscribedTimes !== this.subscribedTimes;
    if (seq < this.#newestSeq || logSeq < this.#newestLogSeq || wasInterrupted || this.#isCatchingUp) {
      void this.#catchUp();
    }
  }

  /** Send a client what it missed while disconnected, before it joins the others, which must not wait for it. */
  async #replayAlone(subscriber: JobSubscriber, subscribedTimes: number): Promise<void> {
    const { session } = subscriber;
    try {
      await this.#replay(new Set([subscriber]), session.tenant);
    } catch (err) {
      this.#logUnexpected(err);
      session.close(CLOSE_CODES.interrupted);
    }
    if (!session.isClosing) this.#add(subscriber, subscribedTimes);
  }

  async #replay(subscribers: ReadonlySet<JobSubscriber>, tenant: string): Promise<void> {
    const { jobId, store } = this.options;
    const last = await replayMissed({
      jobId,
      store,
      tenant,
      subscribers,
      sendEvent: (encoded, seq) => this.#sendEvent(subscribers, encoded, seq),
    });
    if (last !== null) this.#endAfter(subscribers, last);
  }

  /** End the streams that have reached the event with which the job ended. */
  #endAfter(subscribers: Iterable<JobSubscriber>, { seq, status }: { seq: number; status: Status }): void {
    if (!isTerminal(status)) return;
    for (const { session, cursor } of subscribers) {
      if (cursor.seq !== seq) continue;
      this.#endFraction ??= session.random();
      session.end(status, this.#endFraction);
    }
  }

  /** Do nothing until the connection is restored, because the history keeps the missed events. */
  lost(): void {}

  protected *sessions(): Iterable<Session> {
    for (const { session } of this.#subscribers) yield session;
  }

  protected receive(encoded: OutgoingMessage): void {
    // The event arrived right after Redis confirmed the subscription, which starts a read of the history that contains the
    // event. Sent before that read, it would hide that Redis came up again with less data.
    if (!this.isSubscribed) return;
    const { event } = encoded;
    if (event.type === 'logs_appended') this.#newestLogSeq = Math.max(this.#newestLogSeq, event.data.toSeq);
    else if (event.seq !== null) this.#newestSeq = Math.max(this.#newestSeq, event.seq);
    if (!this.#isCatchingUp) {
      if (this.#sendLive(encoded) === 'behind') void this.#catchUp();
    } else if (this.#live.length < MAX_LIVE) {
      this.#live.push(encoded);
    } else {
      this.#mustReadAgain = true;
    }
  }

  protected resume(): void {
    // Redis may have come up again with less data.
    this.#newestSeq = 0;
    this.#newestLogSeq = 0;
    void this.#catchUp();
  }

  #sendLive(encoded: OutgoingMessage): SendOutcome {
    const { event } = encoded;
    if (event.type === 'logs_appended') return sendAppend(this.#subscribers, event, { isReplay: false });
    if (event.seq === null) {
      for (const { session } of this.#subscribers) session.send(encoded); // Not stored, so no client is ever behind.
      return 'ok';
    }
    const outcome = this.#sendEvent(this.#subscribers, encoded, event.seq);
    if (isTerminal(event.type)) this.#endAfter(this.#subscribers, event);
    return outcome;
  }

  /** Send an event to each subscriber that needs exactly this one next. */
  #sendEvent(subscribers: Iterable<JobSubscriber>, encoded: OutgoingMessage, seq: number): SendOutcome {
    let outcome: SendOutcome = 'ok';
    for (const subscriber of subscribers) {
      const { session, cursor } = subscriber;
      if (session.isClosing) continue; // The replay skips it as well.
      if (seq > cursor.seq + 1) outcome = 'behind';
      if (seq !== cursor.seq + 1) continue;
      subscriber.sendNext(encoded);
      if (encoded.event.type === 'requeued') session.stayOpen();
    }
    return outcome;
  }

  /** Replay missed events to subscribers, then send the live events that arrived in the meantime. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) {
      this.#mustReadAgain = true;
      return;
    }
    this.#isCatchingUp = true;
    try {
      do {
        this.#mustReadAgain = false;
        await this.#replay(this.#subscribers, '');
        for (const encoded of this.#live.splice(0)) {
          if (this.#sendLive(encoded) === 'behind') this.#mustReadAgain = true;
        }
      } while (this.#mustReadAgain);
    } catch (err) {
      this.#logUnexpected(err);
      this.interrupt();
    } finally {
      this.#live = [];
      this.#isCatchingUp = false;
    }
  }

  #logUnexpected(err: unknown): void {
    const { log, jobId } = this.options;
    if (!(err instanceof YardmasterError)) log.error({ err, jobId }, 'missed events not sent');
  }
}
