import { ConfigError, createLogger, readConfig, runProcess } from '@yardmaster/runtime';
import { createGateway, GATEWAY_VARIABLES } from './gateway.js';

try {
  const { REDIS_URL, ...config } = readConfig(process.env, GATEWAY_VARIABLES);
  if (REDIS_URL === undefined) throw new ConfigError(['REDIS_URL is required']);
  const log = createLogger('gateway', config.LOG_LEVEL);
  await runProcess(createGateway({ ...config, REDIS_URL }, log), { log, stopWithinMs: config.SHUTDOWN_SECONDS * 1000 });
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
}
