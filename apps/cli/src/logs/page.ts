import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@yardmaster/protocol';
import { logsUrlOf, type Service } from '../addresses.js';
import { backoffMs } from '../backoff.js';
import { get } from '../get.js';
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
    const answer = await get(url, { service, signal, withinMs: ANSWER_WITHIN_MS });
    if (typeof answer === 'string') {
      onAnswer();
      return pageOf(answer);
    }
    if (!PASSING_STATUSES.has(answer.status)) throw new Refused(answer.sentence);
    onLost(answer.sentence);
    await delay(answer.notBeforeMs + backoffMs(failures), undefined, { signal });
  }
}

/** @throws Refused for what is no page: something else than the service answers there */
function pageOf(text: string): RawPage {
  try {
    const { logs, cursor } = JSON.parse(text) as RawPage;
    if (Array.isArray(logs) && typeof cursor.newestSeq === 'number') return { logs, cursor };
  } catch {
    // Not even JSON.
  }
  throw new Refused('the server answered with something that is no page of logs');
}
