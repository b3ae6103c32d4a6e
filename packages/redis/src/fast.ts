import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from './client.js';

type Stream = Redis['stream'];

const uncork = (stream: Stream) => stream.uncork();

/**
 * Send all commands that a connection is given in one turn of the event loop in one write; ioredis would make a write
 * of each. Under load, Redis then reads some thirty as a pipeline and also replies in one write. Over TCP that saves 12
 * % of a call's CPU here, and 6% in Redis (docs/performance/profile.md). A command that is alone leaves as soon as the other
 * input of the same turn is handled.
 *
 * ioredis' own way, `enableAutoPipelining`, does this with pipelines, which cost more than they save.
 *
 * @param client a connection, or a cluster: then the connections to each of its nodes
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
      // At that point, the input of this turn has been read. A stream that is ended in the meantime uncorks itself; a
      // destroyed one ignores it.
      setImmediate(uncork, stream);
    }
    return send.apply(this, command);
  };
}

/**
 * Make a client's `evalsha` create its commands in fewer steps. ioredis searches the arguments of any command for
 * arrays, and makes and deletes a timer for each command. For a script, whose arguments are texts and numbers, that is
 * a tenth of what the call costs here (docs/performance/profile.md). The command, its timeout and its errors are the same.
 */
export function useScriptCommands(client: RedisClient): void {
  client.evalsha = ((sha1: string, keys: number, ...parameters: (string | number)[]) => {
    const command = new ScriptCommand(sha1, keys, parameters);
    client.sendCommand(command);
    return command.promise;
  }) as typeof client.evalsha;
}

/** Timeout queues by their length in milliseconds: there is one for each kind of client. */
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

  /** Called when the command is sent, and again when a cluster's node redirects it, within the same time. */
  override setTimeout(ms: number): void {
    this.#timeout ??= timeoutsOf(ms).begin(() => this.reject(new Error('Command timed out')));
  }

  /** Called with the reply. A call that fails keeps its timeout, which then has no effect. */
  override transformReply(reply: Buffer | Buffer[]): ReturnType<Command['transformReply']> {
    this.#timeout?.clear();
    return super.transformReply(reply);
  }
}

/** A timeout that ends on its own after its time, unless it is cleared before. */
export class QueuedTimeout {
  /** When it ends, by `performance.now()`. */
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

  /** Cancel it. After its end, or a second time, this does nothing. */
  clear(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#all.remove(this);
  }
}

/**
 * Timeouts of one length. They end in the order in which they begin, so one timer, for the oldest, is enough for all
 * of them. A timer of Node's for each call costs 0.25 µs when it is the only one of its length, as in a process that is
 * nearly idle: Node makes and drops the list for that length each time.
 *
 * They do not keep a process from ending.
 */
export class TimeoutQueue {
  readonly #ms: number;
  #oldest: QueuedTimeout | null = null;
  #newest: QueuedTimeout | null = null;
  #isTimed = false;

  /** @param ms length in milliseconds */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Begin a timeout. @param onEnd must not throw */
  begin(onEnd: () => void): QueuedTimeout {
    const timeout = new QueuedTimeout(this, performance.now() + this.#ms, onEnd);
    timeout.before = this.#newest;
    if (this.#newest) this.#newest.after = timeout;
    else this.#oldest = timeout;
    this.#newest = timeout;
    if (!this.#isTimed) this.#lookIn(this.#ms);
    return timeout;
  }

  /** Remove a timeout. Only the timeout itself calls this. */
  remove(timeout: QueuedTimeout): void {
    const { before, after } = timeout;
    if (before) before.after = after;
    else this.#oldest = after;
    if (after) after.before = before;
    else this.#newest = before;
    // A timeout that V8 has moved to the old space would keep those after it, and what they keep, until a full
    // collection.
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
    // Unless a timeout that ended has begun another.
    if (this.#oldest && !this.#isTimed) this.#lookIn(this.#oldest.endsAt - now);
  }
}
