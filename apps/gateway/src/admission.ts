import type { IncomingMessage } from 'node:http';
import { type Backend, checkHost, clientAddressBy } from '@yardmaster/backend';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config } from '@yardmaster/runtime';
import { callerOf, type StreamCaller } from './caller.js';
import type { Feeds } from './feeds.js';
import { checkHandshake } from './handshake.js';
import type { Holds } from './holds.js';
import { type Join, prepareJob, prepareSpace } from './join.js';
import { readStreamUrl, type Subject } from './path.js';
import { Slots } from './slots.js';

/** Variables that the streams read: they decide who gets in. */
export const STREAM_VARIABLES = [
  'ANONYMOUS_STREAMS',
  'STREAMS_PER_ADDRESS',
  'STREAMS_PER_KEY',
  'STREAMS_PER_JOB',
  'TRUSTED_PROXIES',
] as const;

export interface AdmissionOptions {
  backend: Backend;
  feeds: Feeds;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
}

/** A stream that may be opened. */
export interface Admitted {
  caller: StreamCaller;
  subject: Subject;
  join: Join;
}

export interface Admission {
  /**
   * Check a request for a stream, in this order: path, handshake, key, scope, limits, job.
   *
   * @param holds gets whatever is taken on the way
   * @throws every refusal there is
   */
  admit(req: IncomingMessage, holds: Holds): Promise<Admitted>;
  /**
   * Check again what may have changed while Redis was asked.
   *
   * @throws UNAVAILABLE, UNAUTHENTICATED
   */
  checkStillGood(admitted: Admitted): void;
}

/** Make the checks that stand before every stream. */
export function createAdmission({ backend, feeds, config }: AdmissionOptions): Admission {
  const { store, keyRing, reportRejectedKey, stopping } = backend;
  const rules = { keyRing, reportRejectedKey, anonymousStreams: config.ANONYMOUS_STREAMS };
  const addressOf = clientAddressBy(config.TRUSTED_PROXIES ?? []);
  const perAddress = new Slots(config.STREAMS_PER_ADDRESS, 'this address without a token');
  const perKey = new Slots(config.STREAMS_PER_KEY, 'this API key');
  const perJob = new Slots(config.STREAMS_PER_JOB, 'this job');
  // The last tenth is kept for keys: whoever knows a job's id could else lock its operators out.
  const anonymousPerJob = Math.ceil(config.STREAMS_PER_JOB * 0.9);

  function checkNotStopping(): void {
    if (stopping.aborted) throw new YardmasterError('UNAVAILABLE', 'This process is stopping; connect again');
  }

  return {
    async admit(req, holds) {
      checkNotStopping();
      checkHost(req);
      const url = readStreamUrl(req.url as string);
      checkHandshake(req);
      const caller = await callerOf(req, url, rules);
      const { subject } = url;
      holds.add(caller.keyId === null ? perAddress.take(addressOf(req)) : perKey.take(caller.keyId));
      if (subject.kind === 'space') {
        return { caller, subject, join: await prepareSpace(subject.spaceId, { store, feeds, caller, holds }) };
      }
      holds.add(perJob.take(subject.jobId, caller.keyId === null ? anonymousPerJob : config.STREAMS_PER_JOB));
      return { caller, subject, join: await prepareJob(subject.jobId, { store, feeds, caller, holds }) };
    },
    checkStillGood({ caller: { keyId } }) {
      checkNotStopping();
      if (keyId !== null && keyRing.hasHeardRevoked(keyId)) throw new YardmasterError('UNAUTHENTICATED');
    },
  };
}
