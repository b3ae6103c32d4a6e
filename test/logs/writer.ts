import { until } from '../support/until.js';
import { randomOf } from './random.js';
import { type Api, append, range, type Sent } from './reading.js';

export interface Writer {
  /** Seq of the newest entry of which it knows that it is stored. */
  newestSeq(): number;
  /** Wait until that has grown, and return it. */
  advanced(): Promise<number>;
  /** Number of the last entry it has written. */
  written(): number;
  /** Wait until it has come to its end; fails when an append has failed. */
  ended(): Promise<void>;
  /** Make it end, and wait. */
  stop(): Promise<void>;
}

interface WriterOptions {
  /** What the nth entry is. */
  entry: (n: number) => Sent;
  /** Number of its first entry. Default 1. */
  first?: number;
  /** How many batches it writes. Default: until it is stopped. */
  batches?: number;
}

/** Append batches of 1 to 7 entries, one after the other. */
export function startWriter(
  service: Api,
  jobId: string,
  { entry, first = 1, batches = Number.POSITIVE_INFINITY }: WriterOptions,
): Writer {
  const random = randomOf(first);
  let newestSeq = 0;
  let written = first - 1;
  let isToStop = false;

  async function write(): Promise<void> {
    for (let batch = 0; batch < batches && !isToStop; batch++) {
      const last = written + 1 + random.below(7);
      const { toSeq } = await append(service, jobId, range(written + 1, last).map(entry));
      newestSeq = toSeq;
      written = last;
    }
  }

  const writing = write();
  writing.catch(() => undefined); // Shown by `ended` and `stop`.
  return {
    newestSeq: () => newestSeq,
    async advanced() {
      const before = newestSeq;
      await until(() => newestSeq > before);
      return newestSeq;
    },
    written: () => written,
    ended: () => writing,
    stop() {
      isToStop = true;
      return writing;
    },
  };
}
