import {
  type Config,
  ConfigError,
  createLogger,
  type Logger,
  readConfig,
  runProcess,
  type Service,
  type VariableName,
} from '@yardmaster/runtime';
import { FormatError } from '@yardmaster/store';

/** Variables that every app reads. */
type Needed = 'REDIS_URL' | 'LOG_LEVEL' | 'SHUTDOWN_SECONDS';

export interface AppOptions<N extends VariableName> {
  /** Name in the log. */
  name: string;
  env: NodeJS.ProcessEnv;
  variables: readonly N[];
  create: (config: Config<N> & { REDIS_URL: string }, log: Logger) => Service;
}

/**
 * Run an app as this process, with a Redis that the operator provides. This is the app's entire `main`. If the configuration
 * is invalid, the process prints every fault to standard error and exits.
 *
 * Doesn't compile if `variables` lacks one that every app reads.
 */
export async function runApp<N extends VariableName>(
  options: AppOptions<N> & (Needed extends N ? unknown : never),
): Promise<void> {
  const { name, env, variables, create } = options;
  try {
    const config = readConfig(env, variables) as Config<N> & Config<Needed>;
    const { REDIS_URL, LOG_LEVEL, SHUTDOWN_SECONDS } = config;
    if (REDIS_URL === undefined) throw new ConfigError(['REDIS_URL or REDIS_URL_FILE is required']);
    const log = createLogger(name, LOG_LEVEL);
    await runProcess(create({ ...config, REDIS_URL }, log), { log, stopWithinMs: SHUTDOWN_SECONDS * 1000 });
  } catch (error) {
    const isOperators = error instanceof ConfigError || error instanceof FormatError;
    process.stderr.write(`${isOperators ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
}
