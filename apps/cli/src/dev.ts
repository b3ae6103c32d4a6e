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

/** The compiled service of the clone that contains this command. */
const SERVICE = fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url));

/** `yardmaster dev`: the whole service in one process, for a developer or the tests of a program. */
export const devCommand = defineCommand({
  name: 'dev',
  example: 'dev --ephemeral --port 18080',
  define: (command) =>
    command
      .description('Run the whole service on this machine, with a Redis of its own.')
      .option(
        '--port <port>',
        'port to listen on; 0 picks a free one (default: 8080, or PORT)',
        countBetween(0, 65_535),
      )
      .option('--ephemeral', 'store everything in a temporary folder, and delete it at the end')
      .option('--data-dir <folder>', 'folder of its Redis and its admin key (default: .data, or DATA_DIR)')
      .addOption(
        new Option('--clock <clock>', 'manual: jobs follow a clock that POST /test/clock advances').choices([
          'redis',
          'manual',
        ]),
      )
      .addHelpText('after', exitCodesHelp(DEV_EXIT)),
  parse({ flags: { port, clock, ephemeral = false, dataDir }, env }: CommandLine<Flags>) {
    if (ephemeral && dataDir !== undefined) throw new UsageError('--ephemeral and --data-dir exclude each other');
    const given = {
      ...(port !== undefined && { PORT: String(port) }),
      ...(clock !== undefined && { CLOCK: clock }),
      ...(dataDir !== undefined && { DATA_DIR: dataDir }),
    };
    return { env: { ...env, REDIS_URL: undefined, REDIS_URL_FILE: undefined, ...given }, isEphemeral: ephemeral };
  },
  async run({ env, isEphemeral }, { stopSignals }) {
    if (!existsSync(SERVICE)) {
      return { exit: DEV_EXIT.failed, sentence: 'run dev in a clone of Yardmaster, after npm run build' };
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
  // In a process group of its own, so that Ctrl-C reaches it only through this process, which deletes the folder after it.
  const child = spawn(process.execPath, [SERVICE], { env, stdio: 'inherit', detached: true });
  first.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  second.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  if (first.aborted) child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  return { exit: code === 0 ? DEV_EXIT.stopped : DEV_EXIT.failed, sentence: null };
}
