import { signal } from '@preact/signals';
import { type Request, send, Target, viaFetch } from '@yardmaster/sdk/internal/client/transport';
import { YardmasterError } from '@yardmaster/sdk/internal/errors';

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
 * @throws YardmasterError when the call is refused, or gets no response
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
    // A late response to an earlier key says nothing about this one.
    if (error instanceof YardmasterError) noteFailure(error, key === apiKey);
    throw error;
  }
}

/** Show what a failed call says about the connection and the key. */
function noteFailure(error: YardmasterError, isOfThisKey: boolean): void {
  const { status, code } = error;
  isReachable.value = code !== 'NO_RESPONSE';
  if (status === 401 && isOfThisKey) onRefusedKey();
  if (code === 'NO_RESPONSE')
    error.message = status ? `A proxy responded with ${status}, not the service` : 'The service does not respond';
}

/** How much longer than a usual call a page of logs may take over a slow connection, milliseconds. */
const SLOW_MS = 50_000;

const SIGNED_OUT = new YardmasterError('UNAUTHENTICATED', 'You have signed out');

/** Encode an id of a path. */
export const segment = encodeURIComponent;
