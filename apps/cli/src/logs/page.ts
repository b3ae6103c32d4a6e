import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@yardmaster/protocol';
import { logsUrlOf, type Service } from '../addresses.js';
import { backoffMs } from '../backoff.js';
import { type Refusal, refusalOf } from '../refusal.js';
import { PASSING_STATUSES } from '../verdict.js';

/** An answer may be 8 MB, over a slow line. */
const ANSWER_WITHIN_MS = 60_000;

/** A page of logs as the server sent it; nobody has looked at its entries. */
export interface RawPage {
  logs: JsonObject[];
  cursor: { oldestSeq: number; newestSeq: number; hasMore: boolean };
}

/** The server said no, and would again. */
export class Refused extends Error {}

export interface PageOptions {
  service: Service;
  jobId: string;
  /** Aborted when nothing more is wanted. */
  signal: AbortSignal;
  /** Called when no answer came, before it is asked again. */
  onLost: (reason: string) => void;
  onAnswer: () => void;
}

/**
 * Get a page of logs, however often that takes.
 *
 * @throws Refused; whatever aborts the signal
 */
export async function getPage(query: URLSearchParams, options: PageOptions): Promise<RawPage> {
  const { service, jobId, signal, onLost, onAnswer } = options;
  const url = logsUrlOf(service.url, jobId, query);
  for (let failures = 1; ; failures++) {
    const answer = await ask(url, service.token, signal);
    if ('logs' in answer) {
      onAnswer();
      return answer;
    }
    if (!PASSING_STATUSES.has(answer.status)) throw new Refused(answer.sentence);
    onLost(answer.sentence);
    await delay(answer.notBeforeMs + backoffMs(failures), undefined, { signal });
  }
}

/** Ask once. No answer counts as a 503. */
async function ask(url: URL, token: string | null, signal: AbortSignal): Promise<RawPage | Refusal> {
  const headers: Record<string, string> = token === null ? {} : { 'x-api-key': token };
  // Not AbortSignal.any, which keeps something of every request for as long as its signals live.
  const request = new AbortController();
  const abort = () => request.abort();
  const timer = setTimeout(abort, ANSWER_WITHIN_MS);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    const response = await fetch(url, { headers, signal: request.signal });
    const text = await response.text();
    const page = response.ok ? readPage(text) : null;
    return page ?? refusalOf(response.status, text, response.headers.get('retry-after') ?? undefined);
  } catch (error) {
    signal.throwIfAborted();
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    return { status: 503, sentence: cause?.code ?? cause?.message ?? message, notBeforeMs: 0 };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** @returns null for what is no page */
function readPage(text: string): RawPage | null {
  try {
    const { logs, cursor } = JSON.parse(text) as RawPage;
    return Array.isArray(logs) && typeof cursor.newestSeq === 'number' ? { logs, cursor } : null;
  } catch {
    return null;
  }
}
