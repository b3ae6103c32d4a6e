import { useSignal } from '@preact/signals';
import type { Progress } from '@yardmaster/protocol';
import { useEffect } from 'preact/hooks';
import { segment, urlOf } from '../api/client.js';
import { watchProgress } from '../live/progress-stream.js';
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
  useEffect(
    () =>
      watchProgress(urlOf(`realtime/${segment(jobId)}`, { token }), {
        onProgress: (report) => (progress.value = report),
        onCompleted: () => (progress.value = { ...progress.value, percent: 100, message: 'Done' }),
        onState: (text) => (state.value = text),
      }),
    [jobId, token],
  );
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
