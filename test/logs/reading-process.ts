import { randomUUID } from 'node:crypto';
import { HttpClient } from '../support/http.js';
import { runApp } from '../support/process.js';
import { ADMIN_KEY, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import type { Api } from './reading.js';

export interface ReadingApi extends Api {
  prefix: string;
  stop(): Promise<void>;
}

/**
 * Start an API as a process of its own, for tests that read megabytes: the reply parser of ioredis keeps a timer for
 * seconds after it has read large entries, which this process would have to wait for.
 */
export async function startReadingApi(redisUrl = process.env.TEST_REDIS_URL as string): Promise<ReadingApi> {
  const prefix = `t-${randomUUID().slice(0, 8)}`;
  const api = runApp('api', { PORT: '0', REDIS_URL: redisUrl, KEY_PREFIX: prefix, ADMIN_API_KEY: ADMIN_KEY });
  const url = () => /"url":"([^"]+)"/.exec(api.output())?.[1];
  await until(() => url() !== undefined || api.child.exitCode !== null);
  if (api.child.exitCode !== null) throw new Error(`the API ended:\n${api.output()}`);
  const client = new HttpClient(url() as string);
  const call: TestService['call'] = (method, path, options) =>
    client.call(method, `/api/v1${path}`, { key: ADMIN_KEY, ...options });
  return {
    prefix,
    call,
    async stop() {
      client.close();
      await api.stop();
    },
  };
}
