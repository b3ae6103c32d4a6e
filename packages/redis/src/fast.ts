import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from './client.js';

type Stream = Redis['stream'];

const uncork = (stream: Stream) => stream.uncork();

/**
 * Send all commands of an event loop iteration in one write per connection, instead of one write per command. Under load,
 * Redis then reads about thirty as a pipeline and also replies in one write. Over TCP, this saves 12% of a call's CPU time
 * here and 6% in Redis (docs/performance/profile.md). A single command is sent as soon as the other input of the iteration
 * has been handled.
 *
 * ioredis's own option, `enableAutoPipelining`, uses pipelines, which cost more than they save.
 *
 * @param client a connection, or a cluster client with connections to its nodes
 */
export function corkCommands(client: RedisClient): void {
  if (client instanceof Cluster) client.on('+node', corkCommands);
  else corkCommandsOf(client);
}

function corkCommandsOf(redis: Redis): void {
  const send = redis.sendCommand;
  redis.sendCommand = function sendCommand(this: Redis, ...command) {
    const { stream } = this;
    if (stream?.writableCorked === 0) {
      stream.cork();
      // By then, the input of this iteration has been read. A stream that has ended uncorks itself; a destroyed one ignores
      // the call.
      setImmediate(uncork, stream);
    }
    return send.apply(this, command);
  };
}

/**
 * Make a client's `evalsha` create its commands in fewer steps. ioredis searches the arguments of every command for arrays,
 * and creates and deletes a timer for each command. For a script, whose arguments are strings and numbers, that is a tenth
 * of the cost of the call here (docs/performance/profile.md). The command, its timeout and its errors are the same.
 */
export function useScriptCommands(client: RedisClient): void {
  client.evalsha = ((sha1: string, keys: number, ...parameters: (string | number)[]) => {
    const command = new ScriptCommand(sha1, keys, parameters);
    client.sendCommand(command);
    return command.promise;
  }) as typeof client.evalsha;
}

/** Timeout queues by duration in milliseconds, one for each kind of client. */
const timeouts = new Map<number, TimeoutQueue>();

function timeoutsOf(ms: number): TimeoutQueue {
  const known = timeouts.get(ms);
  if (known) return known;
  const made = new TimeoutQueue(ms);
  timeouts.set(ms, made);
  return made;
}

class ScriptCommand extends Command {
  #timeout: QueuedTimeout | undefined;

  constructor(sha1: string, keys: number, parameters: (string | number)[]) {
    super('evalsha', [], { replyEncoding: 'utf8' });
    const args: string[] = [sha1, String(keys)];
    for (const parameter of parameters) args.push(typeof parameter === 'string' ? parameter : String(parameter));
    this.args = args;
  }

  /** Called when the command is sent, and again if a cluster node redirects it; the timeout stays the same. */
  override setTimeout(ms: number): void {
    this.#timeout ??= timeoutsOf(ms).begin(() => this.reject(new Error('Command timed out')));
  }

  /** Called with the reply. A call that fails keeps its timeout, which then has no effect. */
  override transformReply(reply: Buffer | Buffer[]): ReturnType<Command['transformReply']> {
    this.#timeout?.clear();
    return super.transformReply(reply);
  }
}

/** A timeout in a queue, which fires after its duration unless it is cleared first. */
export class QueuedTimeout {
  /** When it fires, by `performance.now()`. */
  readonly endsAt: number;
  readonly onEnd: () => void;
  before: QueuedTimeout | null = null;
  after: QueuedTimeout | null = null;
  #isOver = false;
  readonly #all: TimeoutQueue;

  constructor(all: TimeoutQueue, endsAt: number, onEnd: () => void) {
    this.#all = all;
    this.endsAt = endsAt;
    this.onEnd = onEnd;
  }

  /** Cancel the timeout. Does nothing if it has fired or was already cleared. */
  clear(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#all.remove(this);
  }
}

/**
 * Timeouts of equal duration. They fire in the order in which they were started, so a single timer, for the oldest, is
 * enough. A separate Node timer per call costs 0.25 µs if it is the only one of its duration, as in an almost idle process,
 * because Node creates and drops the list for that duration each time.
 *
 * They don't keep the process alive.
 */
export class TimeoutQueue {
  readonly #ms: number;
  #oldest: QueuedTimeout | null = null;
  #newest: QueuedTimeout | null = null;
  #isTimed = false;

  /** @param ms duration in milliseconds */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Start a timeout. @param onEnd must not throw */
  begin(onEnd: () => void): QueuedTimeout {
    const timeout = new QueuedTimeout(this, performance.now() + this.#ms, onEnd);
    timeout.before = this.#newest;
    if (this.#newest) this.#newest.after = timeout;
    else this.#oldest = timeout;
    this.#newest = timeout;
    if (!this.#isTimed) this.#lookIn(this.#ms);
    return timeout;
  }

  /** Remove a timeout. Called only by the timeout itself. */
  remove(timeout: QueuedTimeout): void {
    const { before, after } = timeout;
    if (before) before.after = after;
    else this.#oldest = after;
    if (after) after.before = before;
    else this.#newest = before;
    // A timeout that V8 has moved to the old space would retain its successors, and what they retain, until a full collection.
    timeout.before = timeout.after = null;
  }

  #lookIn(ms: number): void {
    this.#isTimed = true;
    setTimeout(() => this.#endThoseOver(), Math.ceil(ms)).unref();
  }

  #endThoseOver(): void {
    this.#isTimed = false;
    const now = performance.now();
    for (let oldest = this.#oldest; oldest !== null && oldest.endsAt <= now; oldest = this.#oldest) {
      oldest.clear();
      oldest.onEnd();
    }
    // Unless a timeout that fired has started another.
    if (this.#oldest && !this.#isTimed) this.#lookIn(this.#oldest.endsAt - now);
  }
}
