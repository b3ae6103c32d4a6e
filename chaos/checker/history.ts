import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JobVerb } from '../../test/model/index.js';

// What every client did and saw: one line per entry, in the order of their ends. Times are epoch milliseconds.

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
  api: string; // Name of the API process that got it; the last one tried when none accepted it.
  op: Operation;
  jobId: string | null; // Null for a poll, and for a create without a response.
  spaceId: string | null; // Null for calls that name only a job.
  token: string | null; // The delivery token that it sent.
  idempotencyKey: string | null; // The one that it sent.
  sent: Body;
  sentAt: number;
  endedAt: number;
  /**
   * `ok`: it happened (2xx). `refused`: it did not (4xx). `not now`: it did not, and may be sent again (503 whose code
   * promises that). `unknown`: it may have happened, or may still happen (other 5xx, or no response).
   */
  outcome: 'ok' | 'refused' | 'not now' | 'unknown';
  status: number | null; // HTTP status; null without a response.
  code: string | null;
  body: Body; // The response, or the reason why it is absent.
  mayBe: readonly number[]; // Statuses, besides 409, of a correct refusal: 404 for a job that was undone, or deleted.
}

/** A callback that a receiver got. */
export interface Callback {
  kind: 'callback';
  line: number;
  jobId: string;
  id: string | null; // Its header `webhook-id`.
  body: Body;
  at: number;
}

/** One connection of a watcher, or all attempts of a watcher that never got a message. */
export interface Stream {
  kind: 'stream';
  line: number;
  client: string;
  scope: 'full' | 'progress' | 'space';
  gateway: string; // Name of the gateway process.
  jobId: string | null; // Null for the stream of a space.
  spaceId: string | null;
  openedAt: number;
  messages: Body[]; // In their order, the init first.
  closed: number | null; // Close code; null for a stream that was open when the run ended.
  /** When it was closed, or when its watcher left; null when its end must not be checked. */
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

/** All that happened in a run. */
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

  /** Write it to a file, one line of JSON per entry. */
  async write(file: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}
