import type { JsonObject } from '@yardmaster/protocol';
import { type CallOptions, call, Refused } from '../service/call.js';
import { jobPath, type Query } from '../service/service.js';

/** A response may be 8 MB, over a slow connection. */
const RESPONSE_WITHIN_MS = 60_000;

/** A page of logs as the server sent it. Its entries are not validated. */
export interface RawPage {
  logs: JsonObject[];
  cursor: { oldestSeq: number; newestSeq: number; hasMore: boolean };
}

export interface PageOptions extends Pick<CallOptions, 'service' | 'signal' | 'onLost' | 'onReply'> {
  jobId: string;
}

/**
 * Get a page of logs, with as many requests as needed.
 *
 * @throws Refused; an error when the signal is aborted
 */
export async function getPage(query: Query, { jobId, ...options }: PageOptions): Promise<RawPage> {
  const { text } = await call({ path: jobPath(jobId, 'logs', query) }, { ...options, withinMs: RESPONSE_WITHIN_MS });
  return pageOf(text);
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
