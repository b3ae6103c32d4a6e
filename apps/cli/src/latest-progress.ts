import type { Progress } from '@yardmaster/protocol';
import { progressUrlOf, type Service } from './addresses.js';
import { get } from './get.js';
import { readProgress } from './message.js';

const ANSWER_WITHIN_MS = 10_000;

/**
 * Ask for the latest progress of a job, which the init of a full-scope stream does not tell.
 *
 * @returns null when there is none, and when it cannot be had: the next report brings one anyway
 */
export async function latestProgress(service: Service, jobId: string, signal: AbortSignal): Promise<Progress | null> {
  try {
    const url = progressUrlOf(service.url, jobId);
    const answer = await get(url, { service, signal, withinMs: ANSWER_WITHIN_MS });
    if (typeof answer !== 'string') return null;
    const { progress } = JSON.parse(answer) as { progress?: unknown };
    return readProgress(progress);
  } catch {
    return null;
  }
}
