import { fileURLToPath } from 'node:url';
import { createLogger, readConfig, runProcess } from '@yardmaster/runtime';
import { createStandalone, STANDALONE_VARIABLES } from './standalone.js';

const cacheDir = fileURLToPath(new URL('../../../.cache/redis', import.meta.url));
const print = process.stdout.isTTY ? (text: string) => process.stdout.write(`${text}\n`) : null;

try {
  const config = readConfig(process.env, STANDALONE_VARIABLES);
  const log = createLogger('yardmaster', config.LOG_LEVEL);
  const standalone = createStandalone({ config, log, cacheDir, print });
  await runProcess(standalone, { log, stopWithinMs: config.SHUTDOWN_SECONDS * 1000 });
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
