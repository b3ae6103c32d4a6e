import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, PASSING_STATUSES } from './connectivity.js';
import { type ApiRequest, type Refusal, type Reply, send } from './send.js';
import { queryOf, redact, type Service } from './service.js';

/** The service refused a request, and would refuse it again. The message is printable, and has no API key. */
export class Refused extends Error {
  /** HTTP status; 0 for a response that is not one of the service. */
  readonly status: number;
  /** Code of docs/api.md#errors; null when the response has none. */
  readonly code: string | null;

  constructor(sentence: string, { status = 0, code = null }: Partial<Refusal> = {}) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

/** No response came, or only refusals that may pass, for as long as the call was sent again. The message is printable. */
export class Unavailable extends Error {}

export interface CallOptions {
  service: Service;
  /** Ends the call when it is aborted. */
  signal: AbortSignal;
  /** Time limit for one response, in milliseconds. Default 30,000, because a call may wait for 20 s. */
  withinMs?: number;
  /** For how long the call is sent again, in milliseconds. Default: until the signal is aborted. */
  resendForMs?: number;
  /** Whether to send it again after a refusal. Default: when the refusal may pass. */
  isPassing?: (refusal: Refusal) => boolean;
  /** Called before the request is sent again. */
  onLost?: (reason: string) => void;
  /** Called when a reply has come. */
  onReply?: () => void;
}

const RESPONSE_WITHIN_MS = 30_000;

/** Codes of refusals that last for longer than a caller waits, because an operator must act. */
const LASTING_CODES = new Set<string | null>(['STORAGE_FULL', 'STORAGE_UNSAFE', 'TOO_MANY_KEYS']);

/** Whether only an operator can end the cause of a refusal. */
export const isLasting = ({ code }: Refusal) => LASTING_CODES.has(code);

/** Whether a request may succeed when it is sent again a little later. */
const mayPass = (refusal: Refusal) => PASSING_STATUSES.has(refusal.status) && !isLasting(refusal);

/** Codes of 503 after which it is certain that the request has done nothing. */
const NOTHING_DONE = new Set<string | null>(['OVERLOADED', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Whether it is certain that a refused request has done nothing. A 429 says so with any code, and from a proxy, too. */
const hasDoneNothing = ({ status, code }: Refusal) => status === 429 || NOTHING_DONE.has(code);

/** Whether a request may pass that must not take effect twice. */
const mayPassOnce = (refusal: Refusal) => mayPass(refusal) && hasDoneNothing(refusal);

/**
 * Make a call, and send it again with growing pauses until its outcome is known. The service may ask for longer ones.
 *
 * @throws Refused; Unavailable; the reason of the signal, when it is aborted
 */
export async function call(request: ApiRequest, options: CallOptions): Promise<Reply> {
  const { service, signal, withinMs = RESPONSE_WITHIN_MS, resendForMs = Number.POSITIVE_INFINITY } = options;
  const { isPassing = mayPass, onLost, onReply } = options;
  const began = performance.now();
  for (let failures = 1; ; failures++) {
    const response = await send(request, { service, signal, withinMs });
    if ('text' in response) {
      onReply?.();
      return response;
    }
    const sentence = redact(response.sentence, service);
    if (!isPassing(response)) {
      // A call that must not take effect twice ends here with an unknown outcome.
      throw mayPass(response) ? new Unavailable(sentence) : new Refused(sentence, response);
    }
    const pauseMs = response.notBeforeMs + backoffMs(failures);
    if (performance.now() - began + pauseMs > resendForMs) throw new Unavailable(sentence);
    onLost?.(sentence);
    await delay(pauseMs, undefined, { signal });
  }
}

/**
 * Read the JSON of a reply.
 *
 * @throws Refused when it is not JSON, because another server than the service has responded
 */
export function jsonOf<T>({ text }: Reply): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refused('the response is not JSON, so it is not one of the service');
  }
}

/** For how long a command sends a call again that it ends after, in milliseconds. */
const RESEND_FOR_MS = 30_000;

/** Make a call of a command that ends after it, and read the JSON of the reply. */
export async function callJson<T>(
  service: Service,
  request: ApiRequest,
  options: Partial<CallOptions> = {},
): Promise<T> {
  return (await callPage<T>(service, request, options)).body;
}

/** Make a call that must not take effect twice: when its response is lost, its outcome is unknown. */
export const callOnce = <T>(service: Service, request: ApiRequest) =>
  callJson<T>(service, request, { isPassing: mayPassOnce });

/** Make a call like callJson, whose response may have a next page. */
export async function callPage<T>(
  service: Service,
  request: ApiRequest,
  options: Partial<CallOptions> = {},
): Promise<{ body: T; nextCursor: string | null }> {
  const { signal } = new AbortController();
  const reply = await call(request, { service, signal, resendForMs: RESEND_FOR_MS, ...options });
  return { body: jsonOf<T>(reply), nextCursor: reply.nextCursor };
}

interface RowsOptions {
  /** Path of the list, without its query. */
  path: string;
  /** Member of a page that has its rows; null for a page that is a list, whose cursor is in a header. */
  member: string | null;
  /** What a page is, for the error about another response. */
  pageName: string;
  /** Largest page that the service returns. */
  pageMax: number;
  /** Rows to read at most. */
  limit: number;
}

/**
 * Read pages of a list until there are enough rows.
 *
 * @returns the rows, and whether there are more
 */
export async function readRows<Row>(service: Service, { path, member, pageName, pageMax, limit }: RowsOptions) {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const query = queryOf({ limit: Math.min(limit - rows.length, pageMax), cursor });
    const { body, nextCursor } = await callPage<Record<string, unknown>>(service, { path: path + query });
    const found = member === null ? body : body?.[member];
    if (!Array.isArray(found)) throw new Refused(`the response is not ${pageName}`);
    rows.push(...found);
    cursor = member === null ? nextCursor : (body.nextCursor as string | null);
  } while (cursor !== null && rows.length < limit);
  return { rows, isCut: cursor !== null };
}
