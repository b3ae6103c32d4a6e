import { setTimeout as delay } from 'node:timers/promises';
import { StreamClient } from '../../support/stream-client.js';
import type { AppProcess } from '../app-process.js';
import type { History, Stream } from '../history.js';

/** Watchers of jobs and spaces, who connect again whenever a stream ends before what they watch does. */
export interface Watchers {
  watchSpace(client: string, spaceId: string): void;
  /** @param withKey else as anybody who knows the job's id */
  watchJob(client: string, jobId: string, withKey: boolean): void;
  /** Let go of all that is open, and write down what came. */
  stop(): Promise<void>;
}

interface Subject {
  client: string;
  scope: Stream['scope'];
  jobId: string | null;
  spaceId: string | null;
  path: string;
}

/** A job's stream is over when it has said so; else its last word is lost, and the watcher asks again. */
const TERMINAL = ['completed', 'dead', 'killed'];

const hasEnded = (last: StreamClient['messages'][number]) =>
  TERMINAL.includes(last?.type) || TERMINAL.includes(last?.status);

/** Whoever has asked for so long, and was not even told where things stand, is refused what is theirs. */
const TOLD_MS = 5_000;

/** Of whichever gateway it was asked. */
const NEVER_TOLD = { gateway: '', messages: [], closed: null, until: null };

/** Before a stream that was cut off is opened again. */
const AGAIN_MS = 50;

export function createWatchers(gateways: readonly AppProcess[], key: string, history: History): Watchers {
  const watching = new Set<Promise<void>>();
  /** Who has not been told anything yet, and since when they ask, epoch milliseconds. */
  const untold = new Map<Subject, number>();
  const open = new Set<StreamClient>();
  let isOver = false;
  let turn = 0;

  /** One connection, from its beginning to its end. @returns whether what is watched has ended */
  async function connectOnce(asked: Subject): Promise<boolean> {
    const { path, ...subject } = asked;
    const { jobId } = subject;
    const openedAt = Date.now();
    const { name, url } = gateways[turn++ % gateways.length] as AppProcess;
    const stream = StreamClient.connect(url, path);
    open.add(stream);
    await new Promise<void>((resolve) => stream.ws.once('close', () => resolve()));
    open.delete(stream);
    const { messages } = stream;
    // One that was still open in the end has all there is.
    const closed = isOver ? null : (stream.closed?.code ?? 1006);
    if (messages.length > 0) {
      untold.delete(asked);
      history.add({ kind: 'stream', ...subject, gateway: name, openedAt, messages, closed, until: Date.now() });
    }
    return jobId !== null && (closed === 1000 || hasEnded(messages.at(-1)));
  }

  async function watch(subject: Subject): Promise<void> {
    while (!isOver && !(await connectOnce(subject))) await delay(AGAIN_MS);
  }

  function start(subject: Subject): void {
    untold.set(subject, Date.now());
    const one = watch(subject);
    watching.add(one);
    void one.finally(() => watching.delete(one));
  }

  return {
    watchSpace: (client, spaceId) =>
      start({
        client,
        scope: 'space',
        jobId: null,
        spaceId,
        path: `/spaces/${encodeURIComponent(spaceId)}?token=${key}`,
      }),
    watchJob: (client, jobId, withKey) =>
      start({
        client,
        scope: withKey ? 'full' : 'progress',
        jobId,
        spaceId: null,
        path: withKey ? `/${jobId}?token=${key}` : `/${jobId}`,
      }),
    async stop() {
      isOver = true;
      for (const stream of open) stream.ws.terminate();
      await Promise.all(watching);
      for (const [{ path, ...subject }, since] of untold)
        if (Date.now() - since > TOLD_MS) history.add({ kind: 'stream', ...subject, ...NEVER_TOLD, openedAt: since });
    },
  };
}
