import { YardmasterError } from '@yardmaster/sdk';
import { type Page, type Request, sendUntilAnswered } from '@yardmaster/sdk/internal/client/transport';
import { queryOf, redact, type Service } from './service.js';

/** The service refused a request, and would refuse it again. The message is printable and contains no API key. */
export class Refused extends Error {
  /** HTTP status; null if the response did not come from the service. */
  readonly status: number | null;
  /** Error code as in docs/errors.md; null if the response has none. */
  readonly code: string | null;

  constructor(sentence: string, { status, code }: { status: number | null; code: string | null } = NO_REFUSAL) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

const NO_REFUSAL = { status: null, code: null };

/** All attempts at a call failed with no response, or with temporary refusals. The message is printable. */
export class Unavailable extends Error {}

/** A request to the API of the service. */
export interface ApiRequest extends Omit<Request, 'method' | 'body'> {
  /** Default GET. */
  method?: Request['method'];
  /** Sent as JSON; absent for no body. */
  body?: unknown;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** How long to retry the call, in milliseconds. Default 30,000; 0 for no retries. */
  resendForMs?: number;
  /** Called before each retry. */
  onLost?: (reason: string) => void;
}

const RESEND_FOR_MS = 30_000;

/** Codes of refusals that last until an operator acts, so that retries don't help. */
const LASTING_CODES = new Set<string>(['STORAGE_FULL', 'STORAGE_UNSAFE', 'TOO_MANY_KEYS', 'TOO_MANY_SCHEDULES']);

/** Whether a refusal lasts until an operator acts. */
export const isLasting = ({ code }: { code: string | null }) => code !== null && LASTING_CODES.has(code);

/** Statuses of temporary failures: no response, rate limits, and servers that are unavailable or overloaded. */
const PASSING_STATUSES = new Set([null, 429, 502, 503, 504]);

/** Whether a retry may succeed. */
export const mayPass = (error: YardmasterError) => PASSING_STATUSES.has(error.status) && !isLasting(error);

/**
 * Make a call, and retry it with growing delays until its outcome is known. The service may ask for longer delays.
 *
 * @returns the JSON of the response
 * @throws Refused; Unavailable; the reason of the signal if it aborts
 */
export async function call<T>(service: Service, request: ApiRequest, options: CallOptions = {}): Promise<T> {
  const { method = 'GET', path, body, ...others } = request;
  const { signal, resendForMs = RESEND_FOR_MS, onLost } = options;
  const sent = { method, path: `/${path}`, body: body === undefined ? undefined : JSON.stringify(body), ...others };
  function onRetry(error: YardmasterError): void {
    if (!mayPass(error)) throw error;
    onLost?.(error.message);
  }
  try {
    return await sendUntilAnswered<T>(service.target, sent, resendForMs, signal, onRetry);
  } catch (error) {
    throw errorOf(error, service);
  }
}

/** Convert an error of the SDK into one of the CLI. */
export function errorOf(error: unknown, service: Service): unknown {
  if (!(error instanceof YardmasterError)) return error;
  const sentence = redact(error.message, service);
  // Unavailable also covers an unknown outcome, of a call that must not be made twice.
  return mayPass(error) ? new Unavailable(sentence) : new Refused(sentence, error);
}

/** Read one page of a list whose response is an array. */
export const callPage = <Row>(service: Service, request: ApiRequest) =>
  call<Page<Row>>(service, { ...request, isPage: true });

interface RowsOptions {
  /** Path of the list, without a query. */
  path: string;
  /** Field of a page that contains the rows; null if the page is an array, with its cursor in a header. */
  member: string | null;
  /** What a page is called in the error about an invalid response. */
  pageName: string;
  /** Maximum page size of the service. */
  pageMax: number;
  /** Maximum number of rows to read. */
  limit: number;
}

/**
 * Read pages of a list up to a number of rows.
 *
 * @returns the rows, and whether there are more
 */
export async function readRows<Row>(service: Service, { path, member, pageName, pageMax, limit }: RowsOptions) {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const request = { path: path + queryOf({ limit: Math.min(limit - rows.length, pageMax), cursor }) };
    const page: Record<string, unknown> = await call(service, { ...request, isPage: member === null });
    const found = page[member ?? 'items'];
    if (!Array.isArray(found)) throw new Refused(`the response is not ${pageName}`);
    rows.push(...found);
    cursor = page.nextCursor as string | null;
  } while (cursor !== null && rows.length < limit);
  return { rows, isCut: cursor !== null };
}
