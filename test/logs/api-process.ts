import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Answer, CallOptions } from '../support/http.js';
import { HttpClient } from '../support/http.js';
import { runApp } from '../support/process.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

export interface ApiProcess {
  url: string;
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
  { prefix }: TestService,
  redisUrl = process.env.TEST_REDIS_URL as string,
): Promise<ApiProcess> {
  const api = runApp('api', { PORT: '0', REDIS_URL: redisUrl, KEY_PREFIX: prefix, ADMIN_API_KEY: ADMIN_KEY });
  const listening = () => /"url":"([^"]+)"/.exec(api.output())?.[1];
  await until(() => listening() !== undefined);
  const url = listening() as string;
  const client = new HttpClient(url, 256);
  return {
    url,
    append: (jobId, batch) => client.call('POST', `/api/v1/jobs/${jobId}/logs`, { ...batch, key: ADMIN_KEY }),
    read: (path) => client.call('GET', `/api/v1${path}`, { key: ADMIN_KEY }),
    peakMegabytes: () =>
      Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1_024,
    async stop() {
      client.close();
      expect(await api.stop()).toBe(0);
    },
  };
}
