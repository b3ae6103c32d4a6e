import { createGateway, GATEWAY_VARIABLES } from '@yardmaster/gateway';
import { createLogger, readConfig } from '@yardmaster/runtime';
import { ADMIN_KEY } from '../support/service.js';

/** Start the gateway as a server of its own, beside a service on the same Redis and key prefix. */
export async function startGateway(env: Record<string, string>, redisUrl = process.env.TEST_REDIS_URL as string) {
  const config = readConfig({ PORT: '0', ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent', ...env }, GATEWAY_VARIABLES);
  const gateway = createGateway({ ...config, REDIS_URL: redisUrl }, createLogger('test', config.LOG_LEVEL));
  await gateway.start();
  return gateway;
}
