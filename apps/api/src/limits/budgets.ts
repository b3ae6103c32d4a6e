import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { YardmasterError } from '@yardmaster/protocol';
import { PerKey } from '@yardmaster/store';
import pLimit from 'p-limit';

/** Batches decompressed at once. Node has this many threads for it. */
const MAX_PARALLEL = 4;

/** Purpose and size of a budget. */
export interface BudgetOptions {
  /** Maximum bytes of decompressed batches on their way to Redis; each batch is in memory several times. */
  maxBytes: number;
  /** How long a batch waits for the budget, milliseconds. */
  maxWaitMs: number;
  /** What the batches contain, for the error. */
  what: string;
  /** Called for each batch that waited too long. */
  onRefused?: () => void;
}

/**
 * Byte budget for batches of logs or jobs that are not stored yet. With gzip, a megabyte or just a few kilobytes on the
 * wire can become 5 MB in memory. While the budget is used up, further batches wait in compressed form.
 */
export class InflateBudget {
  readonly #semaphore = pLimit(MAX_PARALLEL);
  readonly #releases = new EventEmitter();
  readonly #options: BudgetOptions;
  #bytes = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#releases.setMaxListeners(0); // One for each waiting batch.
  }

  /**
   * Decompress a batch as soon as the budget allows it, and count it until `release` is called.
   *
   * @throws OVERLOADED if the batch waited too long; any error of `inflate`
   */
  acquire(inflate: () => Promise<Buffer>): Promise<{ batch: Buffer; release: () => void }> {
    const deadline = this.#deadline();
    return this.#semaphore(async () => {
      while (this.#bytes > this.#options.maxBytes) await this.#waitForRelease(deadline);
      const batch = await inflate();
      return { batch, release: this.#count(batch.length) };
    });
  }

  /**
   * Count the bytes of a batch before they arrive, until the returned function is called.
   *
   * @throws OVERLOADED if no room became available in time
   */
  async reserve(bytes: number): Promise<() => void> {
    const deadline = this.#deadline();
    while (this.#bytes > 0 && this.#bytes + bytes > this.#options.maxBytes) await this.#waitForRelease(deadline);
    return this.#count(bytes);
  }

  #deadline(): number {
    return performance.now() + this.#options.maxWaitMs;
  }

  async #waitForRelease(deadline: number): Promise<void> {
    const ms = Math.max(0, Math.ceil(deadline - performance.now()));
    try {
      await once(this.#releases, 'release', { signal: AbortSignal.timeout(ms) });
    } catch {
      this.#options.onRefused?.();
      const { what } = this.#options;
      throw new YardmasterError('OVERLOADED', `Server is busy storing ${what}; nothing was stored, retry later`);
    }
  }

  #count(bytes: number): () => void {
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
      this.#releases.emit('release');
    };
  }
}

/** Responses smaller than this are not counted. A client can have about a hundred of them unread on each connection. */
const COUNTED_BYTES = 4_096;

/** Responses of at least this size are refused first. */
const LARGE_BYTES = 262_144;

/** Unread bytes beyond which large responses are refused; other responses are refused at twice that. */
const MAX_UNREAD_BYTES = 128 * 1_048_576;

/** Maximum unread bytes of large responses per tenant, so that a slow client doesn't use up the budget of others. */
const MAX_BYTES_PER_TENANT = MAX_UNREAD_BYTES / 2;

const refusal = (changesNothing: boolean) =>
  changesNothing
    ? new YardmasterError('OVERLOADED', 'Server is busy sending large responses; retry the request')
    : new YardmasterError('UNAVAILABLE', 'Server is busy sending large responses; the request was carried out');

/** A response that is about to be written. */
interface Responding {
  tenant: string;
  bytes: number;
  changesNothing: boolean;
}

/**
 * Byte budget for responses that their clients have not read yet. Without it, a few hundred clients that send requests
 * without reading the responses could use up all memory. The server's timeout cuts off clients that stop reading.
 */
export class ResponseBudget {
  #bytes = 0;
  readonly #byTenant = new PerKey();
  /** Functions that release the unread responses of each connection. */
  readonly #bySocket = new WeakMap<Socket, Set<() => void>>();

  /**
   * Check a response that is about to be written, and count it until it is sent. Don't await between this call and the
   * writing: simultaneous responses must see each other.
   *
   * @param response.tenant tenant whose share of the bytes it uses; see tenantOf
   * @param response.changesNothing whether its request changed nothing, so that the client can retry it
   * @throws OVERLOADED if the budget is used up; UNAVAILABLE if it is and the request changed something
   */
  acquire(res: ServerResponse, { tenant, bytes, changesNothing }: Responding): void {
    const { socket } = res.req;
    if (bytes < COUNTED_BYTES || res.closed || socket.destroyed) return;
    if (!this.#hasRoom(tenant, bytes)) throw refusal(changesNothing);
    this.#add(tenant, bytes);
    const releases = this.#releasesOf(socket);
    const release = () => {
      if (releases.delete(release)) this.#add(tenant, -bytes);
    };
    releases.add(release);
    res.once('close', release);
  }

  #hasRoom(tenant: string, bytes: number): boolean {
    const isLarge = bytes >= LARGE_BYTES;
    // A response of any size may be sent if no other is unread; otherwise nobody could ever get it.
    const hasRoom = (unread: number, most: number) => unread === 0 || unread + bytes <= most;
    const hasRoomInAll = hasRoom(this.#bytes, isLarge ? MAX_UNREAD_BYTES : 2 * MAX_UNREAD_BYTES);
    return hasRoomInAll && (!isLarge || hasRoom(this.#byTenant.get(tenant), MAX_BYTES_PER_TENANT));
  }

  #add(tenant: string, bytes: number): void {
    this.#bytes += bytes;
    this.#byTenant.add(tenant, bytes);
  }

  /** Return the release functions of a connection. They run when it closes: a response queued behind another never does. */
  #releasesOf(socket: Socket): Set<() => void> {
    const known = this.#bySocket.get(socket);
    if (known) return known;
    const releases = new Set<() => void>();
    this.#bySocket.set(socket, releases);
    socket.once('close', () => {
      for (const release of [...releases]) release();
    });
    return releases;
  }
}
