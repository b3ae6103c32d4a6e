import type { JsonValue, Outcome, Status } from '@yardmaster/protocol';
import { partitionOfJob } from '../../partition.js';
import type { VerbInputs } from '../../script/script.js';
import { ack, complete, fail, heartbeat, release } from '../../script/scripts.generated.js';
import { withInputs } from '../../script/verbs.js';
import type { Store } from '../../store.js';
import { storedTokenOf } from '../read/state.js';
import { delayOf, msOfSeconds } from '../timing.js';

/** What a worker reports about a job. An ephemeral event is not part of a call with several outcomes. */
export type Report = OmitJob<Outcome> | { action: 'ephemeral'; data: JsonValue };
type OmitJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** Return the verb of a report with its arguments. */
export function verbOf(
  { settings, known }: Store,
  jobId: string,
  deliveryToken: string | null | undefined,
  report: Report,
): VerbInputs<Effect> {
  const token = storedTokenOf(deliveryToken);
  const beat = (data = '') =>
    withInputs(heartbeat, { args: { jobId, deliveryToken: token, kind: report.action, data } });
  switch (report.action) {
    case 'ack':
      return withInputs(ack, { args: { jobId, deliveryToken: token } });
    case 'keepalive':
      return beat();
    case 'progress': {
      const { percent, message, subProgress } = report;
      return beat(JSON.stringify({ percent, message, subProgress }));
    }
    case 'checkpoint':
    case 'event':
    case 'ephemeral':
      return beat(JSON.stringify(report.data));
    case 'complete': {
      const mayDiffer = known.spaces.isOnIn(partitionOfJob(jobId), 'retention') ? '1' : '';
      const result = JSON.stringify(report.result);
      return withInputs(complete, { args: { jobId, deliveryToken: token, result, mayDiffer } });
    }
    case 'fail': {
      const { error, retryable, retryAfterSeconds } = report;
      const retryAfterMs = retryAfterSeconds === null ? '' : msOfSeconds(retryAfterSeconds);
      const isRetryable = retryable ? '1' : '0';
      const args = { jobId, deliveryToken: token, errorJson: JSON.stringify(error), isRetryable, retryAfterMs };
      return withInputs(fail, { args: { ...args, random: settings.random() } });
    }
    case 'release': {
      const delay = delayOf({ scheduledFor: null, delaySeconds: report.delaySeconds });
      return withInputs(release, {
        args: { jobId, deliveryToken: token, reason: JSON.stringify(report.reason), delay },
      });
    }
  }
}

/** Decoded reply of the verb of a report. */
export interface Effect {
  outcome?: string;
  attempt?: number;
  status?: Status;
  before?: Status;
  after?: Status;
  space?: string;
  name?: string;
  runMs?: number;
}

/** Report what a worker's call has changed. */
export function reportEffect(
  store: Store,
  deliveryToken: string | null | undefined,
  action: Report['action'],
  effect: Effect,
): void {
  if (effect.outcome === 'UNCHANGED') return;
  const { attempt = 1, status = 'completed', before, after, space: spaceId, name, runMs } = effect;
  // Without a token, a call in an attempt after the first may have been made by an earlier worker.
  if (attempt > 1 && !deliveryToken) store.observer.unfenced();
  if (action === 'ack') store.observer.changed({ from: 'delivered', to: 'running' });
  else if (before !== undefined && after !== undefined) {
    store.observer.changed({ from: before, to: after, spaceId, name, by: 'release' });
  } else if (runMs !== undefined) store.observer.changed({ from: 'running', to: status, spaceId, name, runMs });
}
