import { YardmasterError } from '@yardmaster/sdk';
import { type Page, type Request, sendUntilAnswered } from '@yardmaster/sdk/internal/client/transport';
import { queryOf, redact, type Service } from './service.js';

/** The service refused a request, and would refuse it again. The message is printable, and has no API key. */
export class Refused extends Error {
  /** HTTP status; null for a response that is not one of the service. */
  readonly status: number | null;
  /** Code of docs/errors.md; null when the response has none. */
  readonly code: string | null;

  constructor(sentence: string, { status, code }: { status: number | null; code: string | null } = NO_REFUSAL) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

const NO_REFUSAL = { status: null, code: null };

/** No response came, or only refusals that may pass, for as long as the call was sent again. The message is printable. */
export class Unavailable extends Error {}

/** A request to the API of the service. */
export interface ApiRequest extends Omit<Request, 'method' | 'body'> {
  /** Default GET. */
  method?: Request['method'];
  /** Sent as JSON; absent for none. */
  body?: unknown;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** For how long the call is sent again, in milliseconds. Default 30,000; 0 sends it once. */
  resendForMs?: number;
  /** Called before the request is sent again. */
  onLost?: (reason: string) => void;
}

const RESEND_FOR_MS = 30_000;

/** Codes of refusals that last for longer than a caller waits, because an operator must act. */
const LASTING_CODES = new Set<string>(['STORAGE_FULL', 'STORAGE_UNSAFE', 'TOO_MANY_KEYS']);

/** Whether only an operator can end the cause of a refusal. */
export const isLasting = ({ code }: { code: string | null }) => code !== null && LASTING_CODES.has(code);

/** Statuses of refusals that may pass: no response, too much at once, and servers that are unavailable or overloaded. */
const PASSING_STATUSES = new Set([null, 429, 502, 503, 504]);

/** Whether a request may succeed when it is sent again a little later. */
export const mayPass = (error: YardmasterError) => PASSING_STATUSES.has(error.status) && !isLasting(error);

/**
 * Make a call, and send it again with growing pauses until its outcome is known. The service may ask for longer ones.
 *
 * @returns the JSON of the response
 * @throws Refused; Unavailable; the reason of the signal, when it is aborted
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

/** Return the error of the command for one of the client. */
export function errorOf(error: unknown, service: Service): unknown {
  if (!(error instanceof YardmasterError)) return error;
  const sentence = redact(error.message, service);
  // A call that must not take effect twice may end with an unknown outcome.
  return mayPass(error) ? new Unavailable(sentence) : new Refused(sentence, error);
}

/** Make a call whose response is an array, which may have a next page. */
export const callPage = <Row>(service: Service, request: ApiRequest) =>
  call<Page<Row>>(service, { ...request, isPage: true });

interface RowsOptions {
  /** Path of the list, without its query. */
  path: string;
  /** Member of a page that has its rows; null for a page that is a list, whose cursor is in a header. */
  member: string | null;
  /** What a page is, for the error about another response. */
  pageName: string;
  /** Largest page that the service returns. */
  pageMax: number;
  /** Maximum number of rows to read. */
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
    const request = { path: path + queryOf({ limit: Math.min(limit - rows.length, pageMax), cursor }) };
    const page: Record<string, unknown> = await call(service, { ...request, isPage: member === null });
    const found = page[member ?? 'items'];
    if (!Array.isArray(found)) throw new Refused(`the response is not ${pageName}`);
    rows.push(...found);
    cursor = page.nextCursor as string | null;
  } while (cursor !== null && rows.length < limit);
  return { rows, isCut: cursor !== null };
}
