import { expect } from '@jest/globals';
import { during } from '../support/during.js';
import { type RunningApp, startApp } from '../support/process.js';
import type { TestService } from '../support/service.js';
import { ADMIN_KEY, LONG_REDIS_TIMEOUT, sharedService } from '../support/shared-service.js';

/**
 * Have a gateway beside a service, on the same Redis and key prefix, for all tests of the file or of the `describe` block.
 *
 * @param env settings that differ from the defaults of tests; `undefined` leaves one out
 * @param redis default: the shared one
 */
export const withGateway = (
  service: Pick<TestService, 'prefix'>,
  env: Record<string, string | undefined> = {},
  redis?: { readonly url: string },
): RunningApp =>
  during(
    () => {
      const REDIS_URL = redis?.url ?? sharedService().redisUrl;
      return startApp('gateway', {
        ...LONG_REDIS_TIMEOUT,
        ADMIN_API_KEY: ADMIN_KEY,
        KEY_PREFIX: service.prefix,
        REDIS_URL,
        ...env,
      });
    },
    async (gateway) => expect(await gateway.stop()).toBe(0),
  );
