import { useSignal } from '@preact/signals';
import type { Progress, ProgressMessage } from '@yardmaster/protocol';
import { CLOSE_CODES } from '@yardmaster/protocol/close-codes';
import { useEffect } from 'preact/hooks';
import { segment, urlOf } from '../api/client.js';
import { ProgressBar, Stages } from '../parts/show.js';
import { route } from '../route.js';

const CLOSED: Record<number, string> = {
  [CLOSE_CODES.ended]: 'This job has ended.',
  [CLOSE_CODES.keyRevoked]: 'This link is no longer valid.',
  [CLOSE_CODES.tokenExpired]: 'This link has expired.',
};

/** Attempts without any connection after which the link counts as refused. */
const ATTEMPTS = 8;

/**
 * The progress of one job, for a person with a link and without a key.
 *
 * It connects by itself, because the stream of the other pages makes a token with the key before each connection. The token of
 * a link is all that this page has.
 */
export function SharedProgress({ jobId }: { jobId: string }) {
  const token = route.value.query.get('token') ?? '';
  const progress = useSignal<Progress | undefined>(undefined);
  const state = useSignal('Connecting …');
  useEffect(() => {
    let socket: WebSocket;
    let timer: ReturnType<typeof setTimeout>;
    let attempts = 0;
    let isDone = false;
    let wasConnected = false;
    const connect = () => {
      const url = urlOf(`realtime/${segment(jobId)}`, { token });
      url.protocol = url.protocol.replace('http', 'ws');
      socket = new WebSocket(url);
      socket.onmessage = ({ data }) => {
        const message: ProgressMessage = JSON.parse(data);
        wasConnected = true;
        state.value = '';
        if (message.type === 'init') progress.value = message.progress ?? progress.value;
        if (message.type === 'progress') progress.value = message.data;
        if (message.type !== 'completed') return;
        isDone = true;
        progress.value = { ...progress.value, percent: 100, message: 'Done' };
        socket.close();
      };
      socket.onclose = ({ code }) => {
        if (isDone) return;
        const said =
          CLOSED[code] ??
          (!wasConnected && attempts >= ATTEMPTS ? 'This job cannot be watched with this link.' : undefined);
        state.value = said ?? 'Connecting again …';
        if (said === undefined) timer = setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** attempts++));
      };
    };
    connect();
    return () => {
      isDone = true;
      clearTimeout(timer);
      socket.close();
    };
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
