import { startApp } from '../support/process.js';
import type { Fleet } from '../support/schedulers.js';
import { ADMIN_KEY, openService } from '../support/service.js';
import { LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';

/** Start another process of the API on the data of a fleet. */
export async function startOtherApi({ service: { prefix } }: Fleet, env: Record<string, string> = {}) {
  const { redisUrl } = sharedService();
  const app = await startApp('api', {
    ...LONG_REDIS_TIMEOUT,
    ADMIN_API_KEY: ADMIN_KEY,
    KEY_PREFIX: prefix,
    REDIS_URL: redisUrl,
    ...env,
  });
  return { app, service: openService({ url: app.url, redisUrl, prefix }) };
}
