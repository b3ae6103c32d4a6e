import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JobVerb } from '../../test/model/index.js';

// Everything that clients did and saw: one line per entry, in the order in which they ended. Times are epoch milliseconds.

/** A call of a worker, a producer or an operator, named after its endpoint. */
export type Operation = JobVerb | 'create' | 'copy' | 'poll';

/** The calls that extend the window of an attempt. */
export const HEARTBEATS = ['progress', 'checkpoint', 'event', 'keepalive'] as const;

// biome-ignore lint/suspicious/noExplicitAny: rules read responses of every kind
export type Body = any;

export interface Call {
  kind: 'call';
  line: number;
  client: string;
  api: string; // API process that accepted it; the last one tried if none did.
  op: Operation;
  jobId: string | null; // Null for a poll, and for a create without a response.
  spaceId: string | null; // Null for calls that name only a job.
  token: string | null; // Delivery token that it sent; null for none.
  idempotencyKey: string | null; // Idempotency key that it sent; null for none.
  sent: Body;
  sentAt: number;
  endedAt: number;
  /**
   * `ok`: it took effect (2xx). `refused`: it did not (4xx). `not now`: it did not, and can be retried (503 whose code
   * promises that). `unknown`: it may have taken effect, or may still do so (other 5xx, or no response).
   */
  outcome: 'ok' | 'refused' | 'not now' | 'unknown';
  status: number | null; // HTTP status; null without a response.
  code: string | null;
  body: Body; // Response, or why there was no response.
  mayBe: readonly number[]; // Statuses of a correct refusal, in addition to 409: 404 for a job that was undone or deleted.
}

/** A callback that a receiver got. */
export interface Callback {
  kind: 'callback';
  line: number;
  jobId: string;
  id: string | null; // Header `webhook-id`; null for none.
  body: Body;
  at: number;
}

/** One connection of a watcher, or all attempts of a watcher that got no message. */
export interface Stream {
  kind: 'stream';
  line: number;
  client: string;
  scope: 'full' | 'progress' | 'space';
  gateway: string; // Name of the gateway process.
  jobId: string | null; // Null for the stream of a space.
  spaceId: string | null;
  openedAt: number;
  messages: Body[]; // Messages in order, starting with `init`.
  closed: number | null; // Close code; null if it was open when the run ended.
  /** When it was closed, or when its watcher left; null to skip the check of its end. */
  until: number | null;
}

/** When a fault began and ended. */
export interface Note {
  kind: 'note';
  line: number;
  at: number;
  says: string;
}

export type Entry = Call | Callback | Stream | Note;
type Without<E> = E extends Entry ? Omit<E, 'line'> : never;
type OfKind<K> = Extract<Entry, { kind: K }>;

export const ofKind = <K extends Entry['kind']>(entries: readonly Entry[], kind: K) =>
  entries.filter((entry): entry is OfKind<K> => entry.kind === kind);

/** Everything that happened in a run. */
export class History {
  readonly entries: Entry[] = [];

  add<E extends Without<Entry>>(entry: E): E & { line: number } {
    const numbered = { line: this.entries.length + 1, ...entry };
    this.entries.push(numbered as unknown as Entry);
    return numbered;
  }

  note(says: string): void {
    this.add({ kind: 'note', at: Date.now(), says });
  }

  ofKind<K extends Entry['kind']>(kind: K): OfKind<K>[] {
    return ofKind(this.entries, kind);
  }

  /** Write the history to a file, one line of JSON per entry. */
  async write(file: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}
