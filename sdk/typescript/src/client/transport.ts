import { Backoff, pause } from '../backoff.js';
import { YardmasterError } from '../errors.js';
import type { ErrorBody } from '../wire.generated.js';

/** One call, which can be retried. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v1`, percent-encoded. */
  path: string;
  /** JSON text, unless the headers name another type. */
  body?: string | Uint8Array<ArrayBuffer> | undefined;
  headers?: Record<string, string>;
  /** Time that the response may take in addition to the usual 10 s, in milliseconds. */
  waitMs?: number;
  /** Whether to return `{items, nextCursor}`: the array of the response, and its header `x-next-cursor`. */
  isPage?: boolean;
  /** Whether a retry would take effect a second time. Such a call is retried only if it certainly had no effect. */
  isOnce?: boolean;
}

/** Result of a call with `isPage`. */
export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** One HTTP request. */
export interface Call {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal: AbortSignal;
}

/** Makes an HTTP request and reads its response. Rejects if there is no response or the signal is aborted. */
export type Exchange = (call: Call) => Promise<Received>;

/** A response and its body. */
export interface Received {
  status: number;
  /** @returns the value of a header; null if it is missing */
  header(name: string): string | null;
  body: string;
}

/** Make a call with fetch. */
export const viaFetch: Exchange = async ({ url, ...init }) => {
  const response = await fetch(url, { ...init, redirect: 'manual' }); // A POST that follows a redirect becomes a GET.
  return { status: response.status, header: (name) => response.headers.get(name), body: await response.text() };
};

/** The parts of a target, in the form in which a worker thread receives them. */
export interface TargetFields {
  /** URL of the service, without `/api/v1`. */
  url: string;
  /** API key. If it is empty, the client can only watch the progress of a job. */
  apiKey: string;
  space: string;
  userAgent?: string | undefined;
}

/** Where calls go. The key is private, so that printing an object with a target doesn't show it. */
export class Target {
  readonly url: string;
  readonly space: string;
  readonly exchange: Exchange;
  readonly #headers: Record<string, string>;
  readonly #apiKey: string;

  constructor({ url, apiKey, space, userAgent }: TargetFields, exchange = viaFetch) {
    this.url = url;
    this.space = space;
    this.exchange = exchange;
    this.#apiKey = apiKey;
    this.#headers = { ...(apiKey && { 'x-api-key': apiKey }), ...(userAgent && { 'user-agent': userAgent }) };
  }

  /** @param path below `/api/v1` */
  urlOf(path: string): string {
    return `${this.url}/api/v1${path}`;
  }

  /** Headers of every call, and of every stream. */
  headers(): Record<string, string> {
    return this.#headers;
  }

  /** Return the parts from which another thread makes the same target. */
  fields(): TargetFields {
    return { url: this.url, apiKey: this.#apiKey, space: this.space };
  }
}

/** Makes calls to a space and retries them as a client does. */
export interface Sender {
  readonly target: Target;
  send<T>(request: Request, signal?: AbortSignal): Promise<T>;
}

/** Time for the response of a call, in addition to its wait. */
const RESPONSE_MS = 10_000;

export const spacePath = ({ space }: Target, rest: string): string => `/spaces/${encodeURIComponent(space)}${rest}`;
export const jobPath = (jobId: string, rest = ''): string => `/jobs/${encodeURIComponent(jobId)}${rest}`;

/** Return a query that repeats a parameter for each value of a list and leaves out undefined ones. */
export function queryOf(parameters: Record<string, string | number | readonly string[] | undefined>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each));
  return query;
}

/** Yield the items of all pages. @param read gets a page by the end of its query */
export async function* pagesOf<Item>(
  read: (cursor: string) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { items, nextCursor }: Page<Item> = await read(cursor);
    yield* items;
    cursor = nextCursor && `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}

/**
 * Make a call once.
 *
 * @param timeoutMs how long to wait for the response. Default: the wait of the call plus 10 s
 * @returns the JSON of a 2xx response
 * @throws YardmasterError; the reason of the signal
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
    signal?.throwIfAborted();
    throw toError(error, ends.signal.aborted ? `none within ${timeoutMs / 1_000} s` : undefined);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function callOf(target: Target, { method, path, body, headers }: Request, signal: AbortSignal): Call {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const call = { url: target.urlOf(path), method, signal, headers: { ...target.headers(), ...type, ...headers } };
  return body === undefined ? call : { ...call, body };
}

/** Return the error of a failed call. A system error means that there was no response. */
export function toError(error: unknown, why?: string): YardmasterError {
  if (error instanceof YardmasterError) return error;
  const cause = ((error as Error).cause ?? error) as { message?: string; code?: string }; // fetch has the reason in its cause.
  const reason = cause.code === 'ECONNRESET' ? 'the connection broke' : cause.message || cause.code;
  return new YardmasterError('NO_RESPONSE', `No response: ${why ?? reason ?? 'the connection failed'}`, { cause });
}

/** Read a response. */
function parse<T>(received: Received, { isPage }: Request): T {
  const { status, header } = received;
  const body = jsonIn(received);
  if (status < 200 || status >= 300 || body === null) throw refusalOf(received);
  return (isPage ? { items: body, nextCursor: header('x-next-cursor') } : body) as T;
}

/** Return the error in a response. If the body isn't the service's, it comes from a proxy or is incomplete. */
export function refusalOf(received: Received): YardmasterError {
  const { status, header } = received;
  const facts = { status, requestId: header('x-request-id'), retryAfterMs: retryAfterMsOf(header('retry-after')) };
  const { code, error, jobStatus, jobId, details } = (jsonIn(received) ?? {}) as Partial<ErrorBody>;
  if (typeof code !== 'string' || typeof error !== 'string')
    return new YardmasterError('NO_RESPONSE', `Status ${status} without JSON of the service; check the URL`, facts);
  return new YardmasterError(code, error, { ...facts, jobStatus, jobId, details });
}

function jsonIn({ body }: Received): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** Read a number of seconds or a date. @returns milliseconds, at most an hour */
function retryAfterMsOf(header: string | null): number {
  if (header === null) return 0;
  const ms = Number.isFinite(Number(header)) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Math.min(Math.max(ms || 0, 0), 3_600_000);
}

/**
 * Retry a call until a response says what it did.
 *
 * @param windowMs how long to retry
 * @param onRetry called before each retry; an error that it throws ends the call
 * @throws the last error after that time, or one that a retry can't fix
 */
export async function sendUntilAnswered<T>(
  target: Target,
  request: Request,
  windowMs: number,
  signal?: AbortSignal,
  onRetry: (error: YardmasterError) => void = () => {},
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
      onRetry(error);
      if (!(await pause(waitMs, signal))) throw signal?.reason ?? error;
    }
  }
}

function mayRepeat({ isOnce }: Request, error: unknown): error is YardmasterError {
  if (!(error instanceof YardmasterError)) return false;
  return isOnce ? error.isWithoutEffect : error.isTemporary;
}
