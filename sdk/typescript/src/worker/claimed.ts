import { YardmasterError } from '../errors.js';
import type { ClaimedJob, Outcome } from '../wire.generated.js';
import type { Attempt } from './attempt.js';
import type { Report } from './outbox.js';
import { releaseOf } from './outcomes.js';
import type { Session } from './session.js';

/** Start the jobs of a poll. One call acks them all, and each handler starts after its ack. */
export function beginJobs(session: Session, jobs: readonly ClaimedJob[]): void {
  const known = jobs.filter(({ name }) => session.handlerOf(name) !== null);
  for (const job of jobs) if (!known.includes(job)) releaseUnknown(session, job);
  const attempts = known.map((job) => session.take(job));
  if (session.options.autoAck) for (const attempt of attempts) attempt.start();
  else if (attempts.length > 0) session.outbox.sendNow(attempts.map(ackOf));
}

function ackOf(attempt: Attempt): Report {
  const done = (error: Error | null) => {
    if (error === null) attempt.start();
    else if (error instanceof YardmasterError) attempt.drop();
  };
  return { outcome: attempt.outcome({ action: 'ack' }), done };
}

/** Release a job without a handler. It must not fail, because another worker may have a handler. */
function releaseUnknown(session: Session, { id: jobId, name, deliveryToken }: ClaimedJob): void {
  const message = `no handler for ${name}, so its job is released`;
  session.warn({ kind: 'unknownName', message, jobIds: [jobId] });
  const release = releaseOf(0, `the worker has no handler for ${name}`);
  session.outbox.add({ outcome: { jobId, deliveryToken, ...release } as Outcome, done: () => undefined });
}
