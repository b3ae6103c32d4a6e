import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import type { Ground } from '../fault.js';
import type { Subject } from './subject.js';

/** What came of the request for a stream. */
export interface Opened {
  /** 101 once its init is there; else the status of the refusal. */
  status: number;
  /** Less what this machine kept its client waiting, milliseconds. */
  tookMs: number;
  stream: StreamClient;
}

/** A job's stream with the rights of `key`, or that of its space. */
export interface StreamRequest {
  of: 'job' | 'space';
  /** Default the installation's. */
  key?: string;
}

const REFUSED = /^Unexpected server response: (\d+)$/;

/** Ask the gateway for a stream. */
export async function open(
  { installation, lag }: Ground,
  { spaceId, jobId }: Subject,
  { of, key = installation.key }: StreamRequest,
): Promise<Opened> {
  const from = Date.now();
  const path = of === 'job' ? `/${jobId}` : `/spaces/${spaceId}`;
  const stream = StreamClient.connect(installation.gateways[0]?.url as string, `${path}?token=${key}`);
  let status: number | null = null;
  stream.ws.on('error', ({ message }) => {
    status = Number(REFUSED.exec(message)?.[1] ?? 0);
  });
  await until(() => status !== null || stream.messages.length > 0 || stream.closed !== null);
  const openedAt = Date.now();
  return { status: status ?? 101, tookMs: openedAt - from - lag.between(from, openedAt), stream };
}

/** Have it written down what a stream has told, to be judged with all others, and let go of it. */
export async function recordStream(
  { history, installation }: Ground,
  { spaceId, jobId }: Subject,
  { stream, of }: { stream: StreamClient; of: StreamRequest['of'] },
): Promise<void> {
  const closed = stream.closed?.code ?? null;
  history.add({
    kind: 'stream',
    client: 'lost-stream',
    scope: of === 'job' ? 'full' : 'space',
    gateway: installation.gateways[0]?.name as string,
    jobId: of === 'job' ? jobId : null,
    spaceId: of === 'job' ? null : spaceId,
    openedAt: Date.parse(stream.messages[0]?.timestamp),
    messages: [...stream.messages],
    closed,
    until: null, // How it was closed is for its trial to judge.
  });
  await stream.close();
}
