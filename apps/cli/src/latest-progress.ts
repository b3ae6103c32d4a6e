import type { Progress } from '@yardmaster/protocol';
import { progressUrlOf, type Service } from './addresses.js';
import { readProgress } from './message.js';

/**
 * Ask for the latest progress of a job, which the init of a full-scope stream does not tell.
 *
 * @returns null when there is none, and when it cannot be had: the next report brings one anyway
 */
export async function latestProgress(service: Service, jobId: string, signal: AbortSignal): Promise<Progress | null> {
  try {
    const headers: Record<string, string> = service.token === null ? {} : { 'x-api-key': service.token };
    const response = await fetch(progressUrlOf(service.url, jobId), { headers, signal });
    const { progress } = (await response.json()) as { progress?: unknown };
    return readProgress(progress);
  } catch {
    return null;
  }
}
