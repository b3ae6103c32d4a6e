import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@yardmaster/protocol';
import { backoffMs, PASSING_STATUSES } from '../service/connectivity.js';
import { get } from '../service/get.js';
import { logsUrlOf, type Service } from '../service/service.js';

/** A response may be 8 MB, over a slow connection. */
const RESPONSE_WITHIN_MS = 60_000;

/** A page of logs as the server sent it. Its entries are not validated. */
export interface RawPage {
  logs: JsonObject[];
  cursor: { oldestSeq: number; newestSeq: number; hasMore: boolean };
}

/** The server refused a request, and would refuse it again. */
export class Refused extends Error {}

export interface PageOptions {
  service: Service;
  jobId: string;
  /** Aborted when no more pages are wanted. */
  signal: AbortSignal;
  /** Called when no page came, before the request is sent again. */
  onLost: (reason: string) => void;
  onResponse: () => void;
}

/**
 * Get a page of logs, with as many requests as needed.
 *
 * @throws Refused; an error when the signal is aborted
 */
export async function getPage(query: URLSearchParams, options: PageOptions): Promise<RawPage> {
  const { service, jobId, signal, onLost, onResponse } = options;
  const url = logsUrlOf(service.url, jobId, query);
  for (let failures = 1; ; failures++) {
    const response = await get(url, { service, signal, withinMs: RESPONSE_WITHIN_MS });
    if (typeof response === 'string') {
      onResponse();
      return pageOf(response);
    }
    if (!PASSING_STATUSES.has(response.status)) throw new Refused(response.sentence);
    onLost(response.sentence);
    await delay(response.notBeforeMs + backoffMs(failures), undefined, { signal });
  }
}

/**
 * Read a page from a response.
 *
 * @throws Refused when the text is not a page, because another server than the service has responded
 */
function pageOf(text: string): RawPage {
  try {
    const { logs, cursor } = JSON.parse(text) as RawPage;
    if (Array.isArray(logs) && typeof cursor.newestSeq === 'number') return { logs, cursor };
  } catch {
    // The text is not JSON.
  }
  throw new Refused('the response is not a page of logs');
}
