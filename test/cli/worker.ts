import type { TestService } from '../support/service.js';

/** Do to a job what its worker does. */
export async function work(service: TestService, jobId: string, verb: string, body?: unknown): Promise<void> {
  const { status, text } = await service.call('POST', `/jobs/${jobId}/${verb}`, { body });
  if (status !== 200) throw new Error(`${verb}: ${text}`);
}
