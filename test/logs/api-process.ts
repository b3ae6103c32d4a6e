import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Answer, CallOptions } from '../support/http.js';
import { HttpClient } from '../support/http.js';
import { runApp } from '../support/process.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

export interface ApiProcess {
  url: string;
  call: TestService['call'];
  /** Append to the logs of a job, as admin. */
  append(jobId: string, batch: CallOptions): Promise<Answer>;
  /** Read a path below /api/v1, as admin. */
  read(path: string): Promise<Answer>;
  /** The most memory that the process has ever had, in megabytes. */
  peakMegabytes(): number;
  /** End it, and expect that it ends well. */
  stop(): Promise<void>;
}

/** Another process in front of the jobs of a service: its memory is its own, and its requests run beside the others. */
export async function startApiProcess(
  { prefix }: Pick<TestService, 'prefix'>,
  redisUrl = process.env.TEST_REDIS_URL as string,
): Promise<ApiProcess> {
  const api = runApp('api', { PORT: '0', REDIS_URL: redisUrl, KEY_PREFIX: prefix, ADMIN_API_KEY: ADMIN_KEY });
  const listening = () => /"url":"([^"]+)"/.exec(api.output())?.[1];
  await until(() => listening() !== undefined || api.child.exitCode !== null);
  if (api.child.exitCode !== null) throw new Error(`the API ended:\n${api.output()}`);
  const url = listening() as string;
  const client = new HttpClient(url, 256);
  const call: ApiProcess['call'] = (method, path, options) =>
    client.call(method, `/api/v1${path}`, { key: ADMIN_KEY, ...options });
  return {
    url,
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
