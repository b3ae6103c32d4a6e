import type { Action, FailRequest, Outcome, ReleaseRequest, Status } from '@yardmaster/protocol';
import { ack, complete, fail, heartbeat, release } from '../../script/scripts.generated.js';
import type { Store } from '../../store.js';
import { delayOf, msOfSeconds } from '../timing.js';
import type { Worker } from './attempt.js';

/** An outcome without its job. */
export type Report = OmitJob<Outcome>;
type OmitJob<O> = O extends Outcome ? Omit<O, 'jobId' | 'deliveryToken'> : never;

/** The script of each action. */
export const SCRIPT_OF = {
  ack,
  keepalive: heartbeat,
  progress: heartbeat,
  checkpoint: heartbeat,
  event: heartbeat,
  complete,
  fail,
  release,
} as const;

/** Return the arguments of an action's own, in the order of its script's header. */
export function argsOf(report: Report): readonly (string | number)[] {
  switch (report.action) {
    case 'ack':
      return [];
    case 'keepalive':
      return ['keepalive', ''];
    case 'progress': {
      const { percent, message, subProgress } = report;
      return ['progress', JSON.stringify({ percent, message, subProgress })];
    }
    case 'checkpoint':
    case 'event':
      return [report.action, JSON.stringify(report.data)];
    case 'complete':
      return [JSON.stringify(report.result)];
    case 'fail':
      return Object.values(failArgs(report));
    case 'release':
      return Object.values(releaseArgs(report));
  }
}

/** Arguments of fail.lua. */
export const failArgs = ({ error, retryable, retryAfterSeconds }: FailRequest) => ({
  errorJson: JSON.stringify(error),
  isRetryable: retryable ? '1' : '0',
  retryAfterMs: retryAfterSeconds === null ? '' : msOfSeconds(retryAfterSeconds),
});

/** Arguments of release.lua. */
export const releaseArgs = ({ reason, delaySeconds }: ReleaseRequest) => ({
  reason: JSON.stringify(reason),
  delay: delayOf({ scheduledFor: null, delaySeconds }),
});

/** Decoded reply of a script of an attempt. */
interface Effect {
  outcome?: string;
  attempt?: number;
  status?: Status;
  before?: Status;
  after?: Status;
  space?: string;
  name?: string;
  runMs?: number;
}

/** Report to the observer what a worker's call has changed, and count it. */
export function reportEffect(
  { observer, tally }: Store,
  { deliveryToken }: Pick<Worker, 'deliveryToken'>,
  action: Action,
  effect: Effect,
): void {
  if (effect.outcome === 'UNCHANGED') return;
  const { attempt = 1, status, before, after, space = '', name = '', runMs = 0 } = effect;
  // Without a token, a call in an attempt after the first may have been made by an earlier worker.
  if (attempt > 1 && !deliveryToken) observer.unfenced();
  if (action === 'ack') observer.moved('delivered', 'running', 1);
  else if (action === 'complete') {
    observer.moved('running', 'completed', 1);
    tally.attempted(space, name, 'completed', runMs);
  } else if (status !== undefined) {
    observer.moved('running', status, 1);
    tally.attempted(space, name, status, runMs);
  } else if (before !== undefined && after !== undefined) {
    observer.moved(before, after, 1);
    if (after === 'dead') tally.counted(space, name, 'dead');
    else observer.released();
  }
}
