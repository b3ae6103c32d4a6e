import type http from 'node:http';
import type https from 'node:https';
import type { Duplex } from 'node:stream';
import got, { type Request, type RequestError } from 'got';

/** For a whole attempt: look-up, connection, TLS, request, answer. */
const ATTEMPT_MS = 10_000;

/** Of an answer's body. Nobody looks at it: it is read so that the receiver need not see its connection break. */
const BODY_BYTES = 16_384;

/** How long a body may take once the status is known. */
const BODY_MS = 1_000;

/** Interim answers (1xx), each of up to 16 KB of headers: more than anybody needs before the answer. */
const INTERIM_ANSWERS = 8;

/** Why there is no status: the metrics' word for it. `http` and `invalid` are an answer and a request that are none. */
export const FAULTS = ['refused', 'timeout', 'dns', 'network', 'tls', 'http', 'invalid'] as const;

/** What came back. */
export type Answer =
  /** A status, with the header `Retry-After` as it came. */
  | { statusCode: number; retryAfter: string | undefined }
  /** No status: a sentence for the job's history, and whether trying again makes sense. */
  | { error: string; isFinal: boolean; fault: (typeof FAULTS)[number] };

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  agents: { http: http.Agent; https: https.Agent };
}

/** POST once: no redirects, no retries, no proxy. Never throws. */
export async function post(message: Post): Promise<Answer> {
  const ends = performance.now() + ATTEMPT_MS;
  try {
    const request = requestOf(message);
    const { statusCode = 0, headers } = await responseTo(request);
    await drain(request, Math.min(BODY_MS, ends - performance.now()));
    return { statusCode, retryAfter: headers['retry-after'] };
  } catch (error) {
    return refusalOf(error as RequestError);
  }
}

function requestOf({ url, headers, body, agents }: Post): Request {
  return got.stream.post(url, {
    headers,
    // Not text: Node would write the headers in its encoding, and theirs is Latin-1.
    body,
    agent: agents,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  });
}

/** Wait for the head of the answer, for as long as an attempt may take. */
async function responseTo(request: Request): Promise<http.IncomingMessage> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const fail = (code: string) => {
        reject(Object.assign(new Error(code), { code }));
        request.destroy();
      };
      // Not got's time-out, which is over with an answer that changes the protocol, and so would wait for ever.
      timer = setTimeout(fail, ATTEMPT_MS, 'ETIMEDOUT');
      let interim = 0;
      request.on('information', () => {
        if (++interim > INTERIM_ANSWERS) fail('HPE_INTERIM_ANSWERS');
      });
      request.once('upgrade', (response: http.IncomingMessage, socket: Duplex) => {
        socket.destroy();
        resolve(response); // Nobody asked for it, but it is a status.
      });
      request.on('error', reject); // For good: an error that nobody hears ends the process.
      request.once('response', resolve);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Read what may be read of the body; the outcome is known by now, whatever becomes of it. */
async function drain(request: Request, withinMs: number): Promise<void> {
  const timer = setTimeout(() => request.destroy(), withinMs);
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes >= BODY_BYTES) break; // which destroys it
    }
  } catch {
    // Cut off by either side.
  } finally {
    clearTimeout(timer);
  }
}

/** Sentences for what Node, OpenSSL and the parser say; never an address, which would tell of a network behind a name. */
function refusalOf({ code = 'ERR_UNKNOWN', message }: RequestError): Answer {
  const failed = (fault: (typeof FAULTS)[number], error: string) => ({ error, fault, isFinal: false });
  if (code === 'ERR_ADDRESS_REFUSED') return { error: 'address is not public', fault: 'refused', isFinal: true };
  if (code === 'ECONNREFUSED') return failed('network', 'connection refused');
  if (/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|ETIMEOUT|EBADNAME)/.test(code)) {
    return failed('dns', 'host name does not resolve');
  }
  if (code === 'ETIMEDOUT') return failed('timeout', 'no answer within 10 s');
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) return failed('network', 'host cannot be reached');
  if (code.startsWith('HPE_')) return failed('http', `answer is not valid HTTP (${code})`);
  if (isTls(code)) return failed('tls', `TLS failed (${code})`);
  if (/^(ECONNRESET|EPIPE)$/.test(code) || message === 'socket hang up') {
    return failed('network', 'connection was closed before an answer');
  }
  // Not even begun: a host that no socket takes, a path that got takes for one. It will not be otherwise next time.
  const isFinal = code === 'EINVAL' || /^ERR_(GOT|INVALID)_/.test(code);
  return { error: `request failed (${code})`, fault: isFinal ? 'invalid' : 'network', isFinal };
}

const isTls = (code: string) =>
  /^(EPROTO|ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|DEPTH_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|PATH_LENGTH|HOSTNAME_)/.test(
    code,
  );
