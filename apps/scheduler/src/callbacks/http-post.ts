import type http from 'node:http';
import type https from 'node:https';
import type { Duplex } from 'node:stream';
import got, { type Request, type RequestError } from 'got';

/** Timeout of an entire attempt, milliseconds: lookup, connection, TLS, request and response. */
const ATTEMPT_MS = 10_000;

/** Bytes to read of a response's body. The content is not used, but reading it keeps the receiver's connection intact. */
const BODY_BYTES = 16_384;

/** How long a body may take once the status is known, milliseconds. */
const BODY_MS = 1_000;

/** Maximum number of interim responses (1xx), each with up to 16 KB of headers: more than any receiver needs. */
const INTERIM_RESPONSES = 8;

/** Reasons for a missing status, used as metric labels. `http`: the response is not valid HTTP; `invalid`: the request is. */
export const FAULTS = ['refused', 'timeout', 'dns', 'network', 'tls', 'http', 'invalid'] as const;

export type PostOutcome =
  /** A status, with the raw header `Retry-After`. */
  | { statusCode: number; retryAfter: string | undefined }
  /** No status: a message for the job's history, and whether a retry is pointless. */
  | { error: string; isFinal: boolean; fault: (typeof FAULTS)[number] };

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  agents: { http: http.Agent; https: https.Agent };
}

/** Send a POST request once, without redirects, retries or a proxy. Never throws. */
export async function post(message: Post): Promise<PostOutcome> {
  const ends = performance.now() + ATTEMPT_MS;
  try {
    const request = requestOf(message);
    const { statusCode = 0, headers } = await responseTo(request);
    await drain(request, Math.min(BODY_MS, ends - performance.now()));
    return { statusCode, retryAfter: headers['retry-after'] };
  } catch (error) {
    return failureOf(error as RequestError);
  }
}

function requestOf({ url, headers, body, agents }: Post): Request {
  return got.stream.post(url, {
    headers,
    // A buffer instead of a string: Node would encode the headers, which are Latin-1, like the string.
    body,
    agent: agents,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
}

/** Wait for the head of the response until the attempt times out. */
async function responseTo(request: Request): Promise<http.IncomingMessage> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const fail = (code: string) => {
        reject(Object.assign(new Error(code), { code }));
        request.destroy();
      };
      // Replaces got's timeout, which ends at a response that switches protocols, so that the wait would never end.
      timer = setTimeout(fail, ATTEMPT_MS, 'ETIMEDOUT');
      let interim = 0;
      request.on('information', () => {
        if (++interim > INTERIM_RESPONSES) fail('HPE_INTERIM_RESPONSES');
      });
      request.once('upgrade', (response: http.IncomingMessage, socket: Duplex) => {
        socket.destroy();
        resolve(response); // Not requested, but it has a status.
      });
      request.on('error', reject); // Never removed, because an error without a listener crashes the process.
      request.once('response', resolve);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Read the permitted part of the body. The outcome is already known, so a failure here changes nothing. */
async function drain(request: Request, withinMs: number): Promise<void> {
  const timer = setTimeout(() => request.destroy(), withinMs);
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes >= BODY_BYTES) break; // Leaving the loop destroys the request.
    }
  } catch {
    // Either side cut it off.
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Translate errors of Node, OpenSSL and the parser into messages. They never contain an address, which would reveal the
 * network behind a name.
 */
function failureOf({ code = 'ERR_UNKNOWN', message }: RequestError): PostOutcome {
  const failed = (fault: (typeof FAULTS)[number], error: string) => ({ error, fault, isFinal: false });
  if (code === 'ERR_ADDRESS_REFUSED') return { error: 'address is not public', fault: 'refused', isFinal: true };
  if (code === 'ECONNREFUSED') return failed('network', 'connection refused');
  if (/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|EBADNAME)/.test(code)) {
    return failed('dns', 'host name does not resolve');
  }
  if (code === 'ETIMEDOUT') return failed('timeout', 'no response within 10 s');
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return failed('network', 'host cannot be reached');
  if (code.startsWith('HPE_')) return failed('http', `response is not valid HTTP (${code})`);
  if (isTls(code)) return failed('tls', `TLS failed (${code})`);
  if (/^(ECONNRESET|EPIPE)$/.test(code) || message === 'socket hang up') {
    return failed('network', 'connection was closed before a response');
  }
  // The request wasn't even started: no socket accepts the host, or got mistakes the path for a socket. Retrying is useless.
  const isFinal = code === 'EINVAL' || /^ERR_(GOT|INVALID)_/.test(code);
  return { error: `request failed (${code})`, fault: isFinal ? 'invalid' : 'network', isFinal };
}

const isTls = (code: string) =>
  /^(EPROTO|ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|PATH_LENGTH|HOSTNAME_)/.test(
    code,
  );
