import { signal } from '@preact/signals';
import { type Request, send, Target, viaFetch } from '@yardmaster/sdk/internal/client/transport';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';

/** URL of the API. The dashboard is served at `ui/`, next to `api/`, below any path. */
const API = new URL('../api/v1/', location.href);

/** Whether the latest call got a response from the service. */
export const isReachable = signal(true);

/** API key of all calls; null before sign-in. */
let apiKey: string | null = null;
let onRefusedKey = () => {};
/** Increases at each sign-out, so that a late response has no effect in the next session. */
let session = 0;

/** Set the key of all calls, and the function to call when the service refuses it. */
export function setKey(key: string | null, onRefused: () => void = () => {}): void {
  if (key === null) session++;
  apiKey = key;
  onRefusedKey = onRefused;
}

/** Query parameters. Null and empty values are omitted; a list repeats its parameter. */
export type Query = Record<string, string | number | readonly string[] | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: object;
  /** Whether to refuse unknown fields of the body instead of ignoring them. Default false. */
  isStrict?: boolean;
  /** Aborts the call, which then throws an AbortError. */
  signal?: AbortSignal;
}

export interface Page<T> {
  status: number;
  body: T;
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null;
}

/** Return the URL of an API path, such as `jobs/36o7…`. */
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
 * @param path relative to `api/v1/`; encode IDs in it with {@link segment}
 * @throws YardmasterError if the call is refused or gets no response
 */
export async function call<T>(method: Request['method'], path: string, options: CallOptions = {}): Promise<T> {
  return (await callPage<T>(method, path, options)).body;
}

/** Like {@link call}, with the status of the response and the cursor of the next page. */
export async function callPage<T>(
  method: Request['method'],
  path: string,
  { query, body, isStrict, signal }: CallOptions = {},
): Promise<Page<T>> {
  const key = apiKey;
  const own = session;
  let status = 0;
  const target = new Target(
    { url: API.href.slice(0, -'/api/v1/'.length), apiKey: key ?? '', space: '' },
    async (sent) => {
      const received = await viaFetch(sent);
      status = received.status;
      return received;
    },
  );
  const request: Request = {
    method,
    path: `/${path}${urlOf(path, query).search}`,
    isPage: true,
    waitMs: SLOW_MS,
    ...(isStrict && { headers: { prefer: 'handling=strict' } }),
    ...(body && { body: JSON.stringify(body) }),
  };
  try {
    const { items, nextCursor } = await send<{ items: T; nextCursor: string | null }>(target, request, signal);
    if (own !== session) throw SIGNED_OUT;
    isReachable.value = true;
    return { status, body: items, nextCursor };
  } catch (error) {
    if (own !== session) throw SIGNED_OUT;
    // A late response to an earlier key says nothing about the current one.
    if (error instanceof YardmasterError) noteFailure(error, key === apiKey);
    throw error;
  }
}

/** Update the state of the connection and the key after a failed call. */
function noteFailure(error: YardmasterError, isOfThisKey: boolean): void {
  const { status, code } = error;
  isReachable.value = code !== 'NO_RESPONSE';
  if (status === 401 && isOfThisKey) onRefusedKey();
  if (code === 'NO_RESPONSE')
    error.message = status
      ? `A proxy responded with ${status} instead of the service`
      : 'The service is not responding';
}

/** Extra time for a response, in milliseconds: a page of logs may be large and the connection slow. */
const SLOW_MS = 50_000;

const SIGNED_OUT = new YardmasterError('UNAUTHENTICATED', 'You have signed out');

/** Encode an ID for a path. */
export const segment = encodeURIComponent;
