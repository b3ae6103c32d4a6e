import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { type CommandLine, defineCommand, type Env, UsageError } from './command.js';
import { DEV_EXIT, exitCodesHelp, type Outcome } from './exit-codes.js';
import { countBetween } from './flag-values.js';

interface Flags {
  port?: number;
  clock?: string;
  ephemeral?: boolean;
  dataDir?: string;
}

/** The compiled service of the clone that contains the CLI. */
const SERVICE = fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url));

/** `yardmaster dev`: runs the whole service in one process, for development and tests. */
export const devCommand = defineCommand({
  name: 'dev',
  example: 'dev --ephemeral --port 18080',
  define: (command) =>
    command
      .description('Run the whole service on this machine, with its own Redis.')
      .option(
        '--port <port>',
        'port to listen on; 0 picks a free one (default: $PORT, or 8080)',
        countBetween(0, 65_535),
      )
      .option('--ephemeral', 'store all data in a temporary folder, and delete it on exit')
      .option('--data-dir <folder>', 'folder for Redis data and the admin key (default: $DATA_DIR, or .data)')
      .addOption(
        new Option('--clock <clock>', 'with manual, time stands still until POST /test/clock advances it').choices([
          'redis',
          'manual',
        ]),
      )
      .addHelpText('after', exitCodesHelp(DEV_EXIT)),
  parse({ flags: { port, clock, ephemeral = false, dataDir }, env }: CommandLine<Flags>) {
    if (ephemeral && dataDir !== undefined) throw new UsageError('--ephemeral and --data-dir cannot be combined');
    const given = {
      ...(port !== undefined && { PORT: String(port) }),
      ...(clock !== undefined && { CLOCK: clock }),
      ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    };
    return { env: { ...env, REDIS_URL: undefined, REDIS_URL_FILE: undefined, ...given }, isEphemeral: ephemeral };
  },
  async run({ env, isEphemeral }, { stopSignals }) {
    if (!existsSync(SERVICE)) {
      return { exit: DEV_EXIT.failed, sentence: 'dev needs a clone of Yardmaster; run "npm run build" there first' };
    }
    const { first, second } = stopSignals();
    const folder = isEphemeral ? await mkdtemp(join(tmpdir(), 'yardmaster-')) : null;
    try {
      return await runService({ ...env, ...(folder !== null && { DATA_DIR: folder }) }, first, second);
    } finally {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
  },
});

async function runService(env: Env, first: AbortSignal, second: AbortSignal): Promise<Outcome> {
  // Use a separate process group: Ctrl-C must reach the service only through this process, which then deletes the folder.
  const child = spawn(process.execPath, [SERVICE], { env, stdio: 'inherit', detached: true });
  first.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  second.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  if (first.aborted) child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  return { exit: code === 0 ? DEV_EXIT.stopped : DEV_EXIT.failed, sentence: null };
}
