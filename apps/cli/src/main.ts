import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import { isatty } from 'node:tty';
import { UsageError } from './command.js';
import { EXIT } from './exit-codes.js';
import { runProgram } from './program.js';

const { stdout, stderr } = process;

/** Controllers that successive signals abort, for a command that exits on its own; empty for other commands. */
let stops: AbortController[] = [];

/** Abort the next controller of the command, or end the process if none is left. */
function stop(name: 'SIGINT' | 'SIGTERM'): void {
  const next = stops.find(({ signal }) => !signal.aborted);
  if (next === undefined) process.exit(128 + constants.signals[name]);
  next.abort(name);
}

process.on('SIGINT', () => {
  if (stderr.isTTY) stderr.write('\n'); // Otherwise the shell prompt follows the "^C" on the same line.
  stop('SIGINT');
});

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `head` closed the pipe on purpose, so exit without an error message.
    const [first, second] = stops;
    if (second !== undefined) first?.abort('SIGPIPE');
    else if (error.code === 'EPIPE') process.exit(EXIT.outputClosed.code);
    else stderr.write(`yardmaster: cannot write output (${error.code})\n`, () => process.exit(EXIT.refused.code));
  });
}

/** Ask a question on the terminal. Ctrl-C still ends the process, because the terminal isn't in raw mode. */
async function ask(question: string): Promise<string> {
  const input = createInterface({ input: process.stdin });
  stderr.write(question);
  const [line = ''] = await Promise.race([once(input, 'line'), once(input, 'close')]);
  input.close();
  return line;
}

const code = await runProgram(process.argv.slice(2), {
  env: process.env,
  io: {
    out: stdout,
    err: stderr,
    // Output for a slow reader must not pile up in memory.
    waitForDrain: () => (stdout.writableNeedDrain ? once(stdout, 'drain') : null),
    interruptSignal() {
      const [first = new AbortController()] = stops;
      stops = [first];
      return first.signal;
    },
    stopSignals() {
      const [first, second] = [new AbortController(), new AbortController()];
      stops = [first, second];
      process.on('SIGTERM', () => stop('SIGTERM'));
      process.on('SIGHUP', () => first.abort('SIGHUP')); // Counts once: a terminal and its shell may both send it.
      const end = (name: string) => {
        for (const each of stops) each.abort(name);
      };
      process.on('SIGQUIT', () => end('SIGQUIT'));
      process.on('uncaughtException', (error) => {
        stderr.write(`${error.stack}\n`);
        end('uncaughtException');
      });
      return { first: first.signal, second: second.signal };
    },
    async readInput() {
      const input = await buffer(process.stdin);
      if (!isUtf8(input)) throw new UsageError('standard input is not valid UTF-8');
      return new TextDecoder().decode(input); // Strips a byte order mark.
    },
    ask: isatty(0) && stderr.isTTY ? ask : null,
  },
});
// After --timeout, don't wait for a reader of the output.
if (code === EXIT.timedOut.code && stdout.writableLength > 0) process.exit(code);
// In all other cases, process.exit would lose output that is still on its way to a pipe.
process.exitCode = code;
