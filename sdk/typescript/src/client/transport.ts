import { Backoff, pause } from '../backoff.js';
import { YardmasterError } from '../errors.js';
import type { ErrorBody } from '../wire.generated.js';

/** One call, which can be sent again. */
export interface Request {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/api/v1`, percent-encoded. */
  path: string;
  /** JSON text, unless the headers say something else. */
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Record<string, string>;
  /** How long the service is asked to wait, in milliseconds. */
  waitMs?: number;
  /** Whether to return `{items, nextCursor}`: the array of the response, and its header `x-next-cursor`. */
  isPage?: boolean;
  /** Whether it would take effect a second time. It is sent again only if the service says that nothing was done. */
  isOnce?: boolean;
}

/** One HTTP request. */
export interface Call {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
}

/** Makes an HTTP request and reads its response. It rejects without a response, and when the signal is aborted. */
export type Exchange = (call: Call) => Promise<Received>;

interface Received {
  status: number;
  /** @returns the value of a header; null without it */
  header(name: string): string | null;
  body: string;
}

const viaFetch: Exchange = async ({ url, ...init }) => {
  const response = await fetch(url, { ...init, redirect: 'manual' }); // A POST that follows a redirect becomes a GET.
  return { status: response.status, header: (name) => response.headers.get(name), body: await response.text() };
};

/** What a target is made of, and how a worker thread gets it: as a message. */
export interface TargetFields {
  /** URL of the service, without `/api/v1`. */
  url: string;
  apiKey: string;
  space: string;
}

/** Where calls go. The key is private, so that no print of an object that has a target shows it. */
export class Target {
  readonly url: string;
  readonly space: string;
  readonly exchange: Exchange;
  readonly #apiKey: string;

  constructor({ url, apiKey, space }: TargetFields, exchange = viaFetch) {
    this.url = url;
    this.space = space;
    this.exchange = exchange;
    this.#apiKey = apiKey;
  }

  /** @param path below `/api/v1` */
  urlOf(path: string): string {
    return `${this.url}/api/v1${path}`;
  }

  /** Headers of every call, and of every stream. */
  authorization(): Record<string, string> {
    return { 'x-api-key': this.#apiKey };
  }

  /** Return what makes the same target in another thread. */
  fields(): TargetFields {
    return { url: this.url, apiKey: this.#apiKey, space: this.space };
  }
}

/** Makes calls to a space, and sends them again as a client does. */
export interface Sender {
  readonly target: Target;
  send<T>(request: Request, signal?: AbortSignal): Promise<T>;
}

/** A call has this long for its response, besides its wait. */
const RESPONSE_MS = 10_000;

export const spacePath = ({ space }: Target, rest: string): string => `/spaces/${encodeURIComponent(space)}${rest}`;
export const jobPath = (jobId: string, rest = ''): string => `/jobs/${encodeURIComponent(jobId)}${rest}`;

/**
 * Make a call once.
 *
 * @param timeoutMs how long to wait for the response. Default the wait of the call and 10 s
 * @returns the JSON of a 2xx response
 * @throws YardmasterError; or the reason of the signal
 */
export async function send<T>(
  target: Target,
  request: Request,
  signal?: AbortSignal,
  timeoutMs = (request.waitMs ?? 0) + RESPONSE_MS,
): Promise<T> {
  signal?.throwIfAborted();
  const ends = new AbortController();
  const abort = () => ends.abort();
  // AbortSignal.any would keep every call in the memory of a signal that lives as long as the worker.
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, timeoutMs);
  try {
    return parse<T>(await target.exchange(callOf(target, request, ends.signal)), request);
  } catch (error) {
    if (error instanceof YardmasterError) throw error;
    signal?.throwIfAborted();
    const why = ends.signal.aborted ? `none within ${timeoutMs / 1_000} s` : reasonOf(error);
    throw new YardmasterError('NO_RESPONSE', `No response: ${why}`, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function callOf(target: Target, { method, path, body, headers }: Request, signal: AbortSignal): Call {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const call = { url: target.urlOf(path), method, signal, headers: { ...target.authorization(), ...type, ...headers } };
  return body === undefined ? call : { ...call, body };
}

/** The reason of an error of fetch is in its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  const { message, code } = (cause ?? error) as NodeJS.ErrnoException;
  return message || code || 'the connection failed';
}

/** Read a response. One that is not of the service comes from a proxy, or was cut. */
function parse<T>({ status, header, body: text }: Received, { isPage }: Request): T {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (status >= 200 && status < 300 && body !== null)
    return (isPage ? { items: body, nextCursor: header('x-next-cursor') } : body) as T;
  const facts = { status, requestId: header('x-request-id'), retryAfterMs: retryAfterMsOf(header('retry-after')) };
  const { code, error, jobStatus, details } = (body ?? {}) as Partial<ErrorBody>;
  if (code === undefined)
    throw new YardmasterError('NO_RESPONSE', `Status ${status} without JSON of the service; check the URL`, facts);
  throw new YardmasterError(code, error ?? code, { ...facts, jobStatus, details });
}

/** Read a number of seconds or a date. @returns milliseconds, at most an hour */
function retryAfterMsOf(header: string | null): number {
  if (header === null) return 0;
  const ms = Number.isFinite(Number(header)) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Math.min(Math.max(ms || 0, 0), 3_600_000);
}

/**
 * Send a call until a response says what it did.
 *
 * @param windowMs how long it is sent again
 * @throws the last error after that time, or one that a repetition does not change
 */
export async function sendUntilAnswered<T>(
  target: Target,
  request: Request,
  windowMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const end = performance.now() + windowMs;
  const backoff = new Backoff();
  for (;;) {
    try {
      return await send<T>(target, request, signal);
    } catch (error) {
      const waitMs = backoff.next(error);
      const isOver = performance.now() + waitMs > end;
      if (isOver || !mayRepeat(request, error)) throw error;
      if (!(await pause(waitMs, signal))) throw signal?.reason ?? error;
    }
  }
}

function mayRepeat({ isOnce }: Request, error: unknown): boolean {
  if (!(error instanceof YardmasterError)) return false;
  return isOnce ? error.isWithoutEffect : error.isTemporary;
}
