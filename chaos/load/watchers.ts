import { setTimeout as delay } from 'node:timers/promises';
import { StreamClient } from '../../test/support/stream-client.js';
import type { History, Stream } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import type { Installation } from '../installation/installation.js';
import { reportsEnd } from '../rules/closes.js';

type Subject = Pick<Stream, 'client' | 'scope' | 'jobId' | 'spaceId'>;

const SNAPSHOT_MS = 5_000; // A watcher without a snapshot after this time was wrongly refused.
const AGAIN_MS = 50; // Pause before a watcher reopens a cut stream.

/** Create watchers of jobs and spaces, which reconnect when a stream ends too early. */
export function createWatchers({ gateways, key }: Installation, history: History) {
  const watching = new Set<Promise<void>>();
  /** Watchers without a message, and when they started trying, epoch milliseconds. */
  const waiting = new Map<Subject, number>();
  const open = new Set<StreamClient>();
  const messageTimes: number[] = [];
  let isOver = false;
  let nextGateway = 0;

  /** Open one stream, and wait for its end. @returns whether its job has ended */
  async function connectOnce(subject: Subject, path: string): Promise<boolean> {
    const { jobId, scope } = subject;
    const openedAt = Date.now();
    const { name, url } = gateways[nextGateway++ % gateways.length] as AppProcess;
    const stream = StreamClient.connect(url, path);
    open.add(stream);
    if (scope === 'space') stream.ws.on('message', () => messageTimes.push(Date.now()));
    await new Promise<void>((resolve) => stream.ws.once('close', () => resolve()));
    open.delete(stream);
    const { messages } = stream;
    // A stream still open at the end is complete.
    const closed = isOver ? null : (stream.closed?.code ?? 1006);
    if (messages.length > 0) {
      waiting.delete(subject);
      history.add({ kind: 'stream', ...subject, gateway: name, openedAt, messages, closed, until: Date.now() });
    }
    return jobId !== null && (closed === 1000 || (messages.length > 0 && reportsEnd(messages.at(-1))));
  }

  async function watch(subject: Subject, path: string): Promise<void> {
    while (!isOver && !(await connectOnce(subject, path))) await delay(AGAIN_MS);
  }

  function start(subject: Subject, path: string): void {
    waiting.set(subject, Date.now());
    const one = watch(subject, path);
    watching.add(one);
    void one.finally(() => watching.delete(one));
  }

  return {
    messageTimes, // When watchers of spaces got a message, epoch milliseconds.
    watchSpace: (client: string, spaceId: string) =>
      start({ client, scope: 'space', jobId: null, spaceId }, `/spaces/${encodeURIComponent(spaceId)}?token=${key}`),
    /** Watch a job. @param withKey false for a stream with only the ID of the job */
    watchJob(client: string, jobId: string, withKey: boolean): void {
      const subject: Subject = { client, scope: withKey ? 'full' : 'progress', jobId, spaceId: null };
      start(subject, withKey ? `/${jobId}?token=${key}` : `/${jobId}`);
    },
    /** Close all streams, and add watchers without a message to the history. */
    async stop(): Promise<void> {
      isOver = true;
      for (const stream of open) stream.ws.terminate();
      await Promise.all(watching);
      const none = { gateway: '', messages: [], closed: null, until: Date.now() };
      for (const [subject, openedAt] of waiting)
        if (none.until - openedAt > SNAPSHOT_MS) history.add({ kind: 'stream', ...subject, ...none, openedAt });
    },
  };
}
