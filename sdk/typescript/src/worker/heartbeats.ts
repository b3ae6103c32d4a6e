import { Worker as Thread } from 'node:worker_threads';
import type { Target } from '../client/transport.js';
import { YardmasterError } from '../errors.js';
import type { ClaimedJob } from '../wire.generated.js';
import type { FromThread, HeartbeatData, SentRefusal, ToThread } from './heartbeat-messages.js';
import { HEARTBEAT_THREAD } from './heartbeat-thread.generated.js';

const TURN_MS = 500;

/** Called when heartbeats find something out. */
export interface HeartbeatHandlers {
  /** Called when a job is lost. @param key the key passed to `start` */
  refused(key: number, refusal: YardmasterError): void;
  /** Called once the event loop is free again, after being blocked for 5 s while these jobs ran. */
  blocked(jobIds: string[]): void;
  /** Called when the worker can't continue. */
  failed(error: Error): void;
}

const errorOf = ({ code, message, status, jobStatus }: SentRefusal) =>
  new YardmasterError(code, message, { status, jobStatus });

/** Sends the heartbeats of running jobs from a thread. */
export class Heartbeats {
  readonly #thread: Thread;
  readonly #turning: NodeJS.Timeout;

  /** @param writesWarnings see HeartbeatData */
  constructor(target: Target, handlers: HeartbeatHandlers, writesWarnings: boolean) {
    const turns = new Int32Array(new SharedArrayBuffer(4));
    const workerData: HeartbeatData = { target: target.fields(), turns, writesWarnings };
    this.#turning = setInterval(() => Atomics.add(turns, 0, 1), TURN_MS);
    this.#turning.unref();
    // The thread's program is passed as text, because a bundled worker has no file for it. A thread inherits the Node.js
    // options, but `--input-type`, which is about a main program passed as text, must not apply to this one.
    const isText = process.execArgv.some((option) => option.startsWith('--input-type'));
    this.#thread = new Thread(HEARTBEAT_THREAD, { workerData, eval: true, ...(isText && { execArgv: [] }) });
    this.#thread.unref();
    this.#thread.on('error', (error) => handlers.failed(error));
    this.#thread.on('message', (message: FromThread) => {
      if (message.type === 'blocked') handlers.blocked(message.jobIds);
      else if (message.type === 'refused') handlers.refused(message.key, errorOf(message.refusal));
      else handlers.failed(errorOf(message.refusal));
    });
  }

  /** Send heartbeats for a job until `end`. */
  start(key: number, { id: jobId, deliveryToken, timeoutSeconds }: ClaimedJob): void {
    this.#post({ type: 'start', key, jobId, deliveryToken, timeoutSeconds });
  }

  end(key: number): void {
    this.#post({ type: 'end', key });
  }

  /** Send a heartbeat for every job now, to find out which jobs are lost. */
  beatNow(): void {
    this.#post({ type: 'beatNow' });
  }

  async close(): Promise<void> {
    clearInterval(this.#turning);
    await this.#thread.terminate();
  }

  #post(message: ToThread): void {
    this.#thread.postMessage(message);
  }
}
