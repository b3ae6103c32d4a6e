import type { Progress } from '@yardmaster/protocol';
import { progressUrlOf, type Service } from './addresses.js';
import { get } from './get.js';
import { readProgress } from './message.js';

const RESPONSE_WITHIN_MS = 10_000;

/**
 * Read the latest progress of a job, because the init of a full-scope stream does not contain it.
 *
 * @returns null when there is none, and when it cannot be read, because the next report brings one anyway
 */
export async function latestProgress(service: Service, jobId: string, signal: AbortSignal): Promise<Progress | null> {
  try {
    const url = progressUrlOf(service.url, jobId);
    const response = await get(url, { service, signal, withinMs: RESPONSE_WITHIN_MS });
    if (typeof response !== 'string') return null;
    const { progress } = JSON.parse(response) as { progress?: unknown };
    return readProgress(progress);
  } catch {
    return null;
  }
}
