import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { YardmasterError } from '@yardmaster/protocol';
import { countJobs, isoOf } from '@yardmaster/store';
import { type ConnectedMessage, isOnSpaceStream, OutgoingMessage } from '../messages.js';
import { SpaceChannel, STATUS_STAYS } from './space-channel.js';

/**
 * The channel of one space with COMPAT=emit: its messages are numbered, and say how many jobs have each status when that
 * changes.
 *
 * The numbers are those of this channel in this process, from its first subscriber to its last. `streamInstanceId` is
 * another one whenever messages may be missing.
 *
 * A message that needs counts waits until they are read, and later messages wait behind it. What has come in the meantime is
 * sent together, with counts that are read once.
 */
export class EmitSpaceChannel extends SpaceChannel {
  #streamInstanceId = randomUUID();
  /** Number of the last message that was sent. */
  #seq = 0;
  /** Messages that have come and were not sent yet. */
  #waiting: OutgoingMessage[] = [];
  #isSending = false;

  /**
   * Build the message that follows the init of a client, for which a buffer has been started in this same turn.
   *
   * @param query of the stream's URL: `since` and `streamInstanceId` of the client's last stream
   * @throws UNAVAILABLE
   */
  async connected(query: URLSearchParams): Promise<ConnectedMessage> {
    // The buffer gets all that is sent from now on. So the seq is read first, and the counts contain all up to it.
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
        await nextTurn(); // The messages of one script come in one turn.
        const streamInstanceId = this.#streamInstanceId;
        await this.#sendTogether(this.#waiting.splice(0)).catch((err) => this.#fail(err, streamInstanceId));
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** Close the streams whose counts could not be read, unless these are gone already, and others came. */
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
    if (streamInstanceId !== this.#streamInstanceId) return; // Its clients are gone, and the next ones came later.
    for (const message of messages) {
      const more = { seq: ++this.#seq, ...(isCounted(message) && { counts }) };
      super.receive(new OutgoingMessage(message.event, more));
    }
  }
}
