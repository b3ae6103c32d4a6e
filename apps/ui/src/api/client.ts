import { signal } from '@preact/signals';

/** Address of the API. The pages are served at `ui/` beside it, below any path. */
const API = new URL('../api/v1/', location.href);

/** Whether the latest call got a response of the service. */
export const isReachable = signal(true);

/** API key that calls send; null before the sign-in. */
let apiKey: string | null = null;
let onRefusedKey = () => {};
/** Grows at each sign-out, so that a late response does nothing in the session of the next person. */
let session = 0;

/** Send this key from now on, and report when the service refuses it. */
export function setKey(key: string | null, onRefused: () => void = () => {}): void {
  if (key === null) session++;
  apiKey = key;
  onRefusedKey = onRefused;
}

/** A call that was refused, or that got no response. */
export class CallError extends Error {
  /** Of the response; 0 when none came. */
  readonly status: number;
  /** Code of the API's error; empty when the response is not one of the API. */
  readonly code: string;

  constructor(message: string, status: number, code: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Values of a query; null and empty ones are left out, a list repeats its parameter. */
export type Query = Record<string, string | number | readonly string[] | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: object;
  /** Whether unknown fields of the body are refused, and not ignored. */
  isStrict?: boolean;
  /** Ends the call, which then throws an AbortError. */
  signal?: AbortSignal;
}

export interface Page<T> {
  status: number;
  body: T;
  /** Cursor of the page that follows; null on the last one. */
  nextCursor: string | null;
}

/** Return the URL of a path of the API, such as `jobs/36o7…`. */
export function urlOf(path: string, query: Query = {}): URL {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat())
      if (one !== null && one !== undefined && one !== '') url.searchParams.append(name, String(one));
  }
  return url;
}

/**
 * Call the API.
 *
 * @param path below `api/v1/`; ids in it must be encoded, see {@link segment}
 * @throws CallError when the call is refused, or gets no response
 */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  return (await callPage<T>(method, path, options)).body;
}

/** Like {@link call}, with the status of the response and the cursor of the next page. */
export async function callPage<T>(method: string, path: string, options: CallOptions = {}): Promise<Page<T>> {
  const { query, body, isStrict, signal } = options;
  const key = apiKey;
  const own = session;
  const response = await fetchOrThrow(urlOf(path, query), {
    method,
    headers: {
      ...(apiKey !== null && { 'x-api-key': apiKey }),
      ...(body && { 'content-type': 'application/json' }),
      ...(isStrict && { prefer: 'handling=strict' }),
    },
    cache: 'no-store',
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  if (own !== session) throw new CallError('You have signed out', 0, '');
  // A late response to an earlier key says nothing about this one.
  if (response.status === 401 && key === apiKey) onRefusedKey();
  if (!response.ok) throw errorOf(response, text);
  return {
    status: response.status,
    body: text === '' ? (undefined as T) : JSON.parse(text),
    nextCursor: response.headers.get('x-next-cursor'),
  };
}

/** Encode an id of a path. */
export const segment = encodeURIComponent;

async function fetchOrThrow(url: URL, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    isReachable.value = response.status !== 502 && response.status !== 504;
    return response;
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    isReachable.value = false;
    throw new CallError('The service does not respond', 0, '');
  }
}

function errorOf({ status, statusText }: Response, text: string): CallError {
  try {
    const { error, code } = JSON.parse(text);
    return new CallError(String(error), status, String(code));
  } catch {
    return new CallError(`A proxy responded with ${status} ${statusText}, not the service`, status, '');
  }
}
