import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { YardmasterError } from '@yardmaster/protocol';
import { countJobs, isoOf } from '@yardmaster/store';
import { type ConnectedMessage, isOnSpaceStream, OutgoingMessage } from '../messages.js';
import { SpaceChannel, STATUS_STAYS } from './space-channel.js';

/**
 * The channel of a space with COMPAT=emit. Its messages are numbered, and contain the counts by status whenever they change.
 *
 * The numbers are local to this channel in this process, from its first subscriber to its last. `streamInstanceId` changes
 * whenever messages may be missing.
 *
 * A message that needs counts waits until they have been read, and later messages queue behind it. Everything that arrives
 * in the meantime is sent together, with counts that are read once.
 */
export class EmitSpaceChannel extends SpaceChannel {
  #streamInstanceId = randomUUID();
  /** Number of the last message sent. */
  #seq = 0;
  /** Messages received but not sent yet. */
  #waiting: OutgoingMessage[] = [];
  #isSending = false;

  /**
   * Build the message that follows a client's init. The client's buffer must have been started in the same event loop
   * iteration.
   *
   * @param query query of the stream's URL, with `since` and `streamInstanceId` of the client's previous stream
   * @throws UNAVAILABLE
   */
  async connected(query: URLSearchParams): Promise<ConnectedMessage> {
    // The buffer receives everything sent from now on. So read the seq first; the counts include everything up to it.
    const [seq, streamInstanceId] = [this.#seq, this.#streamInstanceId];
    const isKnown = (name: string, value: string) => (query.get(name) ?? value) === value;
    const missed = !isKnown('since', String(seq)) || !isKnown('streamInstanceId', streamInstanceId);
    const { store, spaceId } = this.options;
    const { at, counts } = await countJobs(store, spaceId);
    return { spaceId, type: 'connected', seq, streamInstanceId, missed, counts, timestamp: isoOf(at) };
  }

  override lost(): void {
    this.#streamInstanceId = randomUUID();
    this.#seq = 0;
    this.#waiting = [];
    super.lost();
  }

  protected override receive(message: OutgoingMessage): void {
    if (!isOnSpaceStream(message.event.type)) return;
    this.#waiting.push(message);
    if (!this.#isSending) void this.#sendWaiting();
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#waiting.length > 0) {
        await nextTurn(); // The messages of one script arrive in the same iteration.
        const streamInstanceId = this.#streamInstanceId;
        await this.#sendTogether(this.#waiting.splice(0)).catch((err) => this.#fail(err, streamInstanceId));
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** Close the streams whose counts could not be read, unless they are already gone and others have taken their place. */
  #fail(err: unknown, streamInstanceId: string): void {
    const { log, spaceId } = this.options;
    if (!(err instanceof YardmasterError)) log.error({ err, spaceId }, 'events not sent');
    if (streamInstanceId === this.#streamInstanceId) this.lost();
  }

  async #sendTogether(messages: readonly OutgoingMessage[]): Promise<void> {
    const { store, spaceId } = this.options;
    const isCounted = ({ event }: OutgoingMessage) => !STATUS_STAYS.has(event.type);
    const streamInstanceId = this.#streamInstanceId;
    const { counts } = messages.some(isCounted) ? await countJobs(store, spaceId) : {};
    if (streamInstanceId !== this.#streamInstanceId) return; // The clients are gone; new ones connected later.
    for (const message of messages) {
      const more = { seq: ++this.#seq, ...(isCounted(message) && { counts }) };
      super.receive(new OutgoingMessage(message.event, more));
    }
  }
}
