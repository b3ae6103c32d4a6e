import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

// What every client did, as it saw it: one line each, in the order in which they were over.

/** The calls of workers, producers and operators, named like their endpoints. */
export type Operation =
  | 'create'
  | 'poll'
  | 'claim'
  | 'ack'
  | 'progress'
  | 'checkpoint'
  | 'event'
  | 'keepalive'
  | 'logs'
  | 'complete'
  | 'fail'
  | 'kill'
  | 'redeliver';

/**
 * What a client knows of what it asked for: `ok`, it happened (2xx); `refused`, it did not (4xx); `unknown`, it may have
 * happened or not, or may still (5xx, or no answer).
 */
export type Outcome = 'ok' | 'refused' | 'unknown';

// biome-ignore lint/suspicious/noExplicitAny: rules look into answers of every kind
type Body = any;

/** A call of the API. Times are epoch milliseconds. */
export interface Call {
  kind: 'call';
  line: number;
  client: string;
  /** Name of the API that it was sent to; of the last one that was tried, when none took it. */
  api: string;
  op: Operation;
  /** Null for a poll, and for a create that was not answered. */
  jobId: string | null;
  /** Only of create and poll. */
  spaceId: string | null;
  /** `attemptNumber` that the job was handed out with, of calls of workers; else null. */
  attempt: number | null;
  sent: Body;
  sentAt: number;
  answeredAt: number;
  outcome: Outcome;
  /** HTTP status; null without an answer. */
  status: number | null;
  code: string | null;
  /** What was answered, or why nothing was, in words. */
  body: Body;
  /** Statuses beside 409 by which it may be refused, and all is well. */
  mayBe: readonly number[];
}

/** A callback that a receiver got. */
export interface Callback {
  kind: 'callback';
  line: number;
  jobId: string;
  /** Its header `webhook-id`. */
  id: string | null;
  body: Body;
  at: number;
}

/** One connection of a watcher, from its beginning to its end; or all of one who was never told anything. */
export interface Stream {
  kind: 'stream';
  line: number;
  client: string;
  scope: 'full' | 'progress' | 'space';
  /** Name of the gateway that it was asked of. */
  gateway: string;
  /** Null for that of a space. */
  jobId: string | null;
  spaceId: string | null;
  openedAt: number;
  /** As they came, the init first; none of a watcher who was told nothing. */
  messages: Body[];
  /** Code of the close; null for one that was open when the run was over and all was quiet. */
  closed: number | null;
  /** When it was closed, or its watcher let go of it, epoch milliseconds; null when that is of no account. */
  until: number | null;
}

/** What the run itself did: when the fault began and was healed, and what a fault wants to be read later. */
export interface Note {
  kind: 'note';
  line: number;
  at: number;
  says: string;
}

export type Entry = Call | Callback | Stream | Note;

/** An entry that has no line yet. */
type New<E> = E extends Entry ? Omit<E, 'line'> : never;

/** Everything that happened in a run, as it is written down. */
export class History {
  readonly entries: Entry[] = [];

  add<E extends New<Entry>>(entry: E): E & { line: number } {
    const numbered = { line: this.entries.length + 1, ...entry };
    this.entries.push(numbered as unknown as Entry);
    return numbered;
  }

  note(says: string): void {
    this.add({ kind: 'note', at: Date.now(), says });
  }

  get calls(): Call[] {
    return this.entries.filter((entry) => entry.kind === 'call');
  }

  /** Write it to a file, a line of JSON for each entry. */
  async write(file: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}
