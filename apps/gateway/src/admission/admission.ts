import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import type { Config } from '@yardmaster/runtime';
import { checkFraming, clientAddressBy, type Denied, type ServerContext } from '@yardmaster/server';
import { redisNow } from '@yardmaster/store';
import type { Channels } from '../channels/channels.js';
import { callerOf, createAnonymousRule, type StreamCaller } from './caller.js';
import { ConnectionLimit, type ReleaseStack } from './capacity.js';
import { type Attach, prepareJobStream, prepareSpaceStream } from './prepare.js';
import { type Filter, filterOf, parseStreamRequest, type StreamRequest } from './stream-request.js';

/** Variables that control which streams may be opened. */
export const STREAM_VARIABLES = [
  'ANONYMOUS_STREAMS',
  'STREAMS_PER_ADDRESS',
  'STREAMS_PER_SPACE',
  'STREAMS_PER_JOB',
  'TRUSTED_PROXIES',
  'CORS_ORIGINS',
] as const;

export interface AdmissionOptions {
  context: ServerContext;
  channels: Channels;
  config: Config<(typeof STREAM_VARIABLES)[number]>;
}

/** A stream that may be opened. */
export interface Admitted {
  caller: StreamCaller;
  request: StreamRequest;
  /** Selects the events of a space to send; null for all. */
  filter: Filter | null;
  /** Null if the client has all messages and no more will follow, which happens only on event streams. */
  attach: Attach | null;
}

export interface Admission {
  /**
   * Check a request for a stream, in this order: path, handshake, key, scope, limits, job.
   *
   * @param access receives what is known about the client, even if it is refused
   * @param releases receives functions that release what has been acquired
   * @throws any error with which a stream can be refused
   */
  admit(req: IncomingMessage, access: Denied, releases: ReleaseStack): Promise<Admitted>;
  /**
   * Recheck the conditions that may have changed during the calls to Redis.
   *
   * @throws UNAVAILABLE, UNAUTHENTICATED
   */
  checkAgain(admitted: Admitted): void;
}

/** Create the checks that every stream must pass before it is opened. */
export function createAdmission({ context, channels, config }: AdmissionOptions): Admission {
  const { store, authenticator, reportRejectedKey, stopping } = context;
  const anonymous = createAnonymousRule(store, config.ANONYMOUS_STREAMS);
  const now = async () => store.known.clock.after(0) ?? (await redisNow(store));
  const rules = { authenticator, reportRejectedKey, mayBeAnonymous: anonymous.mayBeAnonymous, now };
  const addressOf = clientAddressBy(config.TRUSTED_PROXIES ?? []);
  const perAddress = new ConnectionLimit(config.STREAMS_PER_ADDRESS, 'without a token from this address');
  const perTenant = new ConnectionLimit(config.STREAMS_PER_SPACE, 'for this space');
  const perJob = new ConnectionLimit(config.STREAMS_PER_JOB, 'for this job');
  // The last tenth is reserved for clients with a key. Otherwise, anyone who knows a job's ID could lock out its operators.
  const anonymousPerJob = Math.ceil(config.STREAMS_PER_JOB * 0.9);

  function checkNotStopping(): void {
    if (stopping.aborted) throw new YardmasterError('UNAVAILABLE', 'This process is shutting down; reconnect');
  }

  return {
    async admit(req, access, releases) {
      checkNotStopping();
      checkFraming(req);
      const request = parseStreamRequest(req);
      const { subject } = request;
      if (!request.isEventStream) checkHandshake(req);
      const caller = await callerOf(request, access, rules);
      const { keyId, tenant } = caller;
      releases.add(keyId === null ? perAddress.acquire(addressOf(req)) : perTenant.acquire(tenant));
      const options = { store, channels, caller, request, releases, anonymous };
      if (subject.kind === 'space') {
        const filter = filterOf(request.query, caller.grant?.tag ?? null);
        return { caller, request, filter, attach: await prepareSpaceStream(subject.spaceId, options) };
      }
      releases.add(perJob.acquire(subject.jobId, keyId === null ? anonymousPerJob : config.STREAMS_PER_JOB));
      return { caller, request, filter: null, attach: await prepareJobStream(subject.jobId, options) };
    },
    checkAgain({ caller: { keyId, rotation } }) {
      checkNotStopping();
      if (keyId !== null && authenticator.isEnded({ keyId, rotation })) throw new YardmasterError('UNAUTHENTICATED');
    },
  };
}

/** 16 bytes in base64. */
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;

/**
 * Check the headers of a WebSocket handshake. The library would refuse invalid headers with its own response.
 *
 * @throws UPGRADE_REQUIRED for any version other than 13, INVALID_REQUEST
 * @see RFC 6455 §4.2.1
 */
function checkHandshake({ headers }: IncomingMessage): void {
  const version = headers['sec-websocket-version'];
  if (version !== '13') throw new YardmasterError('UPGRADE_REQUIRED', 'Sec-WebSocket-Version must be 13');
  if (!HANDSHAKE_KEY.test(headers['sec-websocket-key'] ?? '')) {
    throw new YardmasterError('INVALID_REQUEST', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
}
