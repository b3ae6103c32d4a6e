import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer } from '@yardmaster/redis';
import { installed } from '../support/installed.js';
import { until } from '../support/until.js';
import { ROOT } from './blocks.js';
import { type Machine, openTerminal, startMachine, type Terminal } from './terminal.js';

/** Someone who follows a page in one terminal, and opens another for the service and for each command that keeps running. */
export class Reader {
  /** Each failure, with its place on the page and the output of the terminal. */
  readonly failures: string[] = [];
  readonly #open: Terminal[] = [];
  readonly #main: Terminal;
  #service: Terminal | null = null;
  #left: { at: string; terminal: Terminal }[] = [];

  /**
   * Start a reader on a machine with a clone, a curl that fails when a call is refused, Go, Python with the SDK, and
   * redis-cli.
   *
   * @param refused parts of the commands that are meant to fail
   */
  static async start(refused: string[]): Promise<Reader> {
    const home = mkdtempSync(join(tmpdir(), 'yardmaster-page-'));
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'curl'), CURL, { mode: 0o755 });
    await installRedis(bin);
    return new Reader(await startMachine(ROOT, home), refused);
  }

  private constructor(
    private readonly machine: Machine,
    private readonly refused: string[],
  ) {
    this.#main = this.#openTerminal();
  }

  #openTerminal(): Terminal {
    const terminal = openTerminal(this.machine, {
      PATH: `${this.machine.home}/bin:${ROOT}.cache/sdk/python/bin:${process.env.PATH}`,
      PYTHONPATH: `${this.machine.clone}/sdk/python/src`,
      GOPROXY: 'off',
      GOCACHE: join(ROOT, '.cache/go-build'),
      npm_config_progress: 'false',
    });
    this.#open.push(terminal);
    return terminal;
  }

  #report(at: string, failures: string[], { screen }: Terminal): void {
    const failed = failures.filter((failure) => !this.refused.some((part) => failure.includes(part)));
    const shown = screen().slice(-1_500);
    if (/unbound variable|syntax error/.test(shown)) failed.push('the shell does not accept it');
    if (failed.length > 0) this.failures.push(`${at}: ${failed.join('\n')}\nThe terminal shows:\n${shown}`);
  }

  /** Save programs in the clone. */
  save(files: Record<string, string>): void {
    for (const [file, text] of Object.entries(files)) this.machine.write(file, text);
  }

  /** Paste commands, and wait until they have finished. */
  async type(at: string, commands: string): Promise<void> {
    this.#report(at, await this.#main.paste(commands), this.#main);
  }

  /** Start the service, or restart it with different settings. */
  async serve(at: string, command: string): Promise<void> {
    await this.#service?.interrupt();
    await until(() => !this.machine.runs('scripts/start.mjs')); // npm may exit before the service does.
    const terminal = await this.#begin(command);
    const isReady = () => terminal.failures().length > 0 || /is ready|"msg":"ready"/.test(terminal.screen());
    await until(isReady).catch(() => this.#report(at, ['is not ready'], terminal));
    this.#report(at, terminal.failures(), terminal);
    this.#service = terminal;
  }

  /** Paste commands into another terminal, and leave them running once one listens or is connected, or all have finished. */
  async leave(at: string, commands: string): Promise<Terminal> {
    const terminal = await this.#begin(commands);
    this.#left.push({ at, terminal });
    await until(() => terminal.isIdle() || terminal.hasSocket());
    return terminal;
  }

  async #begin(commands: string): Promise<Terminal> {
    const variables = await this.#main.variables();
    const terminal = this.#openTerminal();
    terminal.start(`. ${variables}\n${commands}`);
    return terminal;
  }

  /** Press Ctrl-C in each terminal in which commands were left running. */
  async stopLeft(): Promise<void> {
    for (const { at, terminal } of this.#left.splice(0)) {
      await terminal.interrupt().catch(() => this.#report(at, ['does not stop'], terminal));
      const failed = terminal.failures().filter((failure) => !failure.includes('exit 130')); // The exit code of Ctrl-C.
      this.#report(at, failed, terminal);
    }
  }

  async close(): Promise<void> {
    await this.machine.stop();
    for (const terminal of this.#open) terminal.close();
    rmSync(this.machine.home, { recursive: true, maxRetries: 10 });
  }
}

/** A wrapper that makes the system's curl fail when a call is refused, unless its options already do. */
const CURL = `#!/bin/bash
fails=' (-[a-zA-Z]*f[a-zA-Z]*|--fail[a-z-]*) '
[[ " $* " =~ $fails ]] || set -- --fail-with-body --show-error "$@"
exec ${installed('curl', 'curl')} "$@"
`;

/** Put a redis-server and its redis-cli into a folder. */
async function installRedis(folder: string): Promise<void> {
  const { command, args } = await findRedisServer(join(ROOT, '.cache/redis'), () => undefined);
  const server = [command, ...args].join(' ');
  for (const name of ['redis-server', 'redis-cli'])
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${server.replace(/redis-server$/, name)} "$@"\n`, {
      mode: 0o755,
    });
}
