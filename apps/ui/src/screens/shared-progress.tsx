import { useSignal } from '@preact/signals';
import type { Progress, ProgressMessage } from '@yardmaster/protocol';
import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { useEffect } from 'preact/hooks';
import { segment, urlOf } from '../api/client.js';
import { keepConnected } from '../live/connection.js';
import { ProgressBar, Stages } from '../parts/show.js';
import { route } from '../route.js';

/**
 * The progress of one job, for a person with a link and without a key.
 *
 * It has a connection of its own, because the stream of the other pages makes a token with the key before each connection. The
 * token of a link is all that this page has.
 */
export function SharedProgress({ jobId }: { jobId: string }) {
  const token = route.value.query.get('token') ?? '';
  const progress = useSignal<Progress | undefined>(undefined);
  const state = useSignal('Connecting …');
  useEffect(() => {
    const url = urlOf(`realtime/${segment(jobId)}`, { token });
    const end = keepConnected<ProgressMessage>({
      url: async () => url,
      onMessage: (message) => {
        state.value = '';
        const report = message.type === 'init' ? message.progress : message.type === 'progress' && message.data;
        if (report) progress.value = report;
        if (message.type !== 'completed') return;
        progress.value = { ...progress.value, percent: 100, message: 'Done' };
        end();
      },
      isOver: async ({ code, hasMessages }) => {
        const reason = CLOSED[code] ?? (hasMessages ? undefined : await refusalOf(url));
        if (reason !== undefined) state.value = reason;
        return reason !== undefined;
      },
      onBreak: () => (state.value = 'Connecting again …'),
    });
    return end;
  }, [jobId, token]);
  return (
    <main class="shared">
      <h1>Progress</h1>
      <ProgressBar
        progress={progress.value ?? { percent: 0, message: 'Waiting for the first report' }}
        label="the job"
      />
      <Stages progress={progress.value} />
      <p role="status">{state.value}</p>
    </main>
  );
}

/** Why a stream is over, by its close code. */
const CLOSED: Record<number, string> = {
  [CLOSE_CODES.ended]: 'This job has ended.',
  [CLOSE_CODES.keyRevoked]: 'This link is no longer valid.',
  [CLOSE_CODES.tokenExpired]: 'This link has expired.',
};

/** Why a stream is refused, by the status of the response. */
const REFUSED: Record<number, string> = {
  401: 'This link is not valid, or has expired.',
  403: 'This job cannot be watched with this link.',
  404: 'This job does not exist any more.',
};

/** How long the service may take to say why it refuses a stream. */
const PROBE_MS = 10_000;

/** Say why a stream is refused, which a browser does not report for a WebSocket; undefined when it may be tried again. */
async function refusalOf(url: URL): Promise<string | undefined> {
  const request = new AbortController();
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(PROBE_MS)]);
    const { status } = await fetch(url, { headers: { accept: 'text/event-stream' }, signal });
    return REFUSED[status];
  } catch {
    return undefined;
  } finally {
    request.abort(); // It may be a stream.
  }
}
