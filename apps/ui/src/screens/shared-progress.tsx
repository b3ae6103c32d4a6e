import { useSignal } from '@preact/signals';
import type { Progress } from '@yardmaster/protocol';
import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { follow, type StreamMessage } from '@yardmaster/sdk/internal/client/follow';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';
import { useEffect } from 'preact/hooks';
import { segment, urlOf } from '../api/client.js';
import { webSocket } from '../live/web-socket.js';
import { ProgressBar, Stages } from '../parts/show.js';
import { route } from '../route.js';

/**
 * Show the progress of one job to somebody with a link but without a key.
 *
 * It opens its own connection with the token of the link, because `useStream` needs a key to create a token for each
 * connection.
 */
export function SharedProgress({ jobId }: { jobId: string }) {
  const token = route.value.query.get('token') ?? '';
  const progress = useSignal<Progress | undefined>(undefined);
  const state = useSignal('Connecting…');
  useEffect(() => {
    const stop = new AbortController();
    let hasMessages = true;
    let isCompleted = false;
    const onDisconnect = (error: YardmasterError) => {
      if (error.cause === CLOSE_CODES.tokenExpired) throw error; // The page can't get another token.
      state.value = 'Reconnecting…';
    };
    const connect = webSocket(async () => {
      const url = urlOf(`realtime/${segment(jobId)}`, { token });
      // Browsers don't expose why a WebSocket failed: refused or unreachable.
      if (!hasMessages) await expectStream(url);
      hasMessages = false;
      return url;
    });
    function show({ type, data, progress: latest }: StreamMessage): void {
      hasMessages = true;
      state.value = '';
      const report = type === 'progress' ? (data as Progress) : latest;
      if (report) progress.value = report;
      isCompleted = type === 'completed';
      if (isCompleted) progress.value = { ...progress.value, percent: 100, message: 'Done' };
    }
    async function run(): Promise<void> {
      try {
        const stream = follow(connect, { isOfJob: true, signal: stop.signal, onDisconnect });
        for await (const message of stream) show(message);
        if (!isCompleted) state.value = 'This job has ended.';
      } catch (error) {
        if (!stop.signal.aborted) state.value = refusalText(error as YardmasterError);
      }
    }
    void run();
    return () => stop.abort();
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

/** Why a stream was closed, by close code. */
const CLOSED = new Map<unknown, string>([
  [CLOSE_CODES.keyRevoked, 'This link is no longer valid.'],
  [CLOSE_CODES.tokenExpired, 'This link has expired.'],
]);

/** Why a stream was refused, by HTTP status. */
const REFUSED: Record<number, string> = {
  401: 'This link is invalid or has expired.',
  403: 'This job cannot be watched with this link.',
  404: 'This job no longer exists.',
};

const refusalText = ({ cause, status, message }: YardmasterError) =>
  CLOSED.get(cause) ?? REFUSED[status ?? 0] ?? message;

/** How long to wait for the service to say why it refuses a stream, in milliseconds. */
const PROBE_MS = 10_000;

/** Ask the service whether a stream may be opened. @throws YardmasterError if it may not */
async function expectStream(url: URL): Promise<void> {
  const request = new AbortController();
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(PROBE_MS)]);
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal }).catch(() => null);
  request.abort(); // The response may be an endless stream.
  const status = response?.status ?? 0;
  if (status in REFUSED) throw new YardmasterError('FORBIDDEN', `Status ${status}`, { status });
}
