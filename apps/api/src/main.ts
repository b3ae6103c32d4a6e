import { ConfigError, createLogger, readConfig, runProcess } from '@yardmaster/runtime';
import { API_VARIABLES, createApi } from './api.js';

try {
  const { REDIS_URL, ...config } = readConfig(process.env, API_VARIABLES);
  if (REDIS_URL === undefined) throw new ConfigError(['REDIS_URL is required']);
  const log = createLogger('api', config.LOG_LEVEL);
  await runProcess(createApi({ ...config, REDIS_URL }, log), { log, stopWithinMs: config.SHUTDOWN_SECONDS * 1000 });
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exit(1);
}
