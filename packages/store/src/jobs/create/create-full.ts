import { type CreateJobRequest, type Job, YardmasterError } from '@yardmaster/protocol';
import { keyedJobId, newJobId } from '../../partition.js';
import { runScript } from '../../script/run-script.js';
import { create_full } from '../../script/scripts.generated.js';
import { notAfterOf, type Store } from '../../store.js';
import { jobOf, recordOf, recordOfValues, SHOWN_FIELDS } from '../read/record.js';
import { optionsOf } from '../read/state.js';
import { delayOf } from '../timing.js';
import { fieldsOf, newJobOf } from './create.js';
import { fingerprintOf, idempotencySecretOf } from './idempotency.js';

/** A job, and how create came to it. */
export interface FullCreation {
  /**
   * `created`; `replayed`: it was created by an earlier call with this idempotency key; `returned`: it occupies the
   * unique key; `replaced`: it occupies the unique key, waited, and has this request now.
   */
  outcome: 'created' | 'replayed' | 'returned' | 'replaced';
  job: Job;
}

/** Fields that a replay reads of the record; the others it has from the request. To create a job is not to read it. */
const REPLAYED_FIELDS = [
  'state',
  'space',
  'name',
  'deliveredAt',
  'startedAt',
  'scheduledFor',
  'priority',
  // A space may have defaults for these, which may have changed since the job was created.
  'retry',
  'maxRunSeconds',
] as const;

/**
 * Create a job with any options, unless an earlier call with this idempotency key created it, or another job occupies
 * its unique key. The job is pending, or scheduled when its time is in the future.
 *
 * @param idempotencyKey null for none
 * @param body the request as its caller sent it, before defaults of the service: the key belongs to its fingerprint
 * @returns the job as it is now; a replayed one with this request, which another may have replaced, and without result,
 *   error and progress
 * @throws IDEMPOTENCY_MISMATCH, JOB_NOT_UNIQUE, SPACE_FULL, STORAGE_UNSAFE, STORAGE_FULL, OVERLOADED, UNAVAILABLE
 * @see docs/api.md#send-a-create-again
 */
export async function createFullJob(
  store: Store,
  spaceId: string,
  request: CreateJobRequest,
  idempotencyKey: string | null,
  body = request,
): Promise<FullCreation> {
  if (!store.storage.isSafe) throw new YardmasterError('STORAGE_UNSAFE');
  const isIdempotent = idempotencyKey !== null;
  const id = isIdempotent ? keyedJobId(await idempotencySecretOf(store), spaceId, idempotencyKey) : newJobId(spaceId);
  const fields = fieldsOf(request);
  const reply = await runScript(store, create_full, {
    keys: { jobKey: store.keys.job(id) },
    args: {
      base: store.keys.baseOfJob(id),
      jobId: id,
      space: spaceId,
      name: request.name,
      notAfter: notAfterOf(store),
      fingerprint: isIdempotent ? fingerprintOf(spaceId, body) : '',
      eventsPerJob: store.settings.eventsPerJob,
      replayed: REPLAYED_FIELDS.join(' '),
      shown: SHOWN_FIELDS.join(' '),
      maxPending: store.spaceSettings.of(spaceId)?.maxPending ?? '',
      delay: delayOf(request),
      options: optionsOf(request, fields),
    },
    rest: fields,
  });
  switch (reply.outcome) {
    case 'CREATED': {
      const job = newJobOf(id, spaceId, request, reply.order, reply.scheduledFor || null);
      store.observer.moved('none', job.status, 1);
      store.tally.counted(spaceId, job.name, 'created');
      return { outcome: 'created', job };
    }
    case 'REPLAYED':
      return {
        outcome: 'replayed',
        // The values of the record come last: they are null where it has a default, whatever the request has.
        job: jobOf(id, { ...recordOf(fields.map(String)), ...recordOfValues(REPLAYED_FIELDS, reply.values) }),
      };
    case 'NOT_UNIQUE':
      throw new YardmasterError('JOB_NOT_UNIQUE', undefined, { jobId: reply.id, jobStatus: reply.status });
    case 'RETURNED':
      return { outcome: 'returned', job: jobOf(reply.id, recordOfValues(SHOWN_FIELDS, reply.values)) };
    case 'REPLACED': {
      const job = jobOf(reply.id, recordOfValues(SHOWN_FIELDS, reply.values));
      if (job.status !== reply.before) store.observer.moved(reply.before, job.status, 1);
      return { outcome: 'replaced', job };
    }
  }
}
