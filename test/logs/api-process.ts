import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { during } from '../support/during.js';
import { type CallOptions, HttpClient, type HttpResponse } from '../support/http.js';
import { startApp } from '../support/process.js';
import type { TestService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';

export interface ApiProcess {
  url: string;
  call: TestService['call'];
  /** Append to the logs of a job, as admin. */
  append(jobId: string, batch: CallOptions): Promise<HttpResponse>;
  /** Read a path below /api/v1, as admin. */
  read(path: string): Promise<HttpResponse>;
  /** Peak memory of the process, in megabytes. */
  peakMegabytes(): number;
  /** Stop it, and expect exit code 0. */
  stop(): Promise<void>;
}

/**
 * Start another API process for the jobs of a service, for all tests of the file. It has its own memory, and its requests
 * run in parallel with the others.
 *
 * @param redis the service's Redis, if it is not the shared one; the process then has the default timeouts
 */
export const withApiProcess = (service: Pick<TestService, 'prefix'>, redis?: { readonly url: string }): ApiProcess =>
  during(
    () => startApiProcess(service, redis?.url),
    (api) => api.stop(),
  );

async function startApiProcess({ prefix }: Pick<TestService, 'prefix'>, redisUrl?: string): Promise<ApiProcess> {
  const api = await startApp('api', {
    ...(redisUrl === undefined ? LONG_REDIS_TIMEOUT : {}),
    REDIS_URL: redisUrl ?? sharedService().redisUrl,
    KEY_PREFIX: prefix,
    ADMIN_API_KEY: ADMIN_KEY,
  });
  const client = new HttpClient(api.url, 256);
  const call: ApiProcess['call'] = (method, path, options) =>
    client.call(method, `/api/v1${path}`, { key: ADMIN_KEY, ...options });
  return {
    url: api.url,
    call,
    append: (jobId, batch) => call('POST', `/jobs/${jobId}/logs`, batch),
    read: (path) => call('GET', path),
    peakMegabytes: () =>
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1_024,
    async stop() {
      client.close();
      expect(await api.stop()).toBe(0);
    },
  };
}
