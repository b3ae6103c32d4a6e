import { HttpClient } from '../../support/http.js';
import type { Ground } from '../fault.js';
import { ANSWER_MS } from '../rules/answers.js';

/** What a call was answered that is none of those the history knows. */
export interface Asked {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every endpoint
  body: any;
  /** Less what this machine kept its client waiting, milliseconds. */
  tookMs: number;
}

/** An HTTP request of an API. */
export interface ApiRequest {
  method: string;
  /** Below `/api/v1`. */
  path: string;
  body?: unknown;
  /** Default the installation's. */
  key?: string;
}

/** Ask one API, by its place. */
export async function ask(
  { installation, lag }: Ground,
  api: number,
  { method, path, body, key = installation.key }: ApiRequest,
): Promise<Asked> {
  const client = new HttpClient(installation.apis[api]?.url as string);
  const from = Date.now();
  try {
    const answer = await client.call(method, `/api/v1${path}`, { key, body });
    const until = Date.now();
    return { status: answer.status, body: answer.body, tookMs: until - from - lag.between(from, until) };
  } finally {
    client.close();
  }
}

/** What is wrong with the answer to a call whose reply is lost; null for nothing: a clear 503, in time. */
export function refusalFault({ status, body, tookMs }: Asked): string | null {
  if (status !== 503 || body?.code !== 'UNAVAILABLE') return `answered ${status} ${JSON.stringify(body)}`;
  return tookMs > ANSWER_MS ? `answered only after ${tookMs} ms` : null;
}
