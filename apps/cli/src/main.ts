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

/** Aborted one after the other by signals, for a command that ends on its own; empty for the others. */
let stops: AbortController[] = [];

/** Abort the next signal of the command, or end the process when none is left. */
function stop(name: 'SIGINT' | 'SIGTERM'): void {
  const next = stops.find(({ signal }) => !signal.aborted);
  if (next === undefined) process.exit(128 + constants.signals[name]);
  next.abort(name);
}

process.on('SIGINT', () => {
  if (stderr.isTTY) stderr.write('\n'); // It keeps the prompt from standing behind the "^C".
  stop('SIGINT');
});

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the output, for example. A reader that has closed it does not want an error message.
    const [first, second] = stops;
    if (second !== undefined) first?.abort('SIGPIPE');
    else if (error.code === 'EPIPE') process.exit(EXIT.outputClosed.code);
    else stderr.write(`yardmaster: cannot write the output (${error.code})\n`, () => process.exit(EXIT.refused.code));
  });
}

/** Ask a question on the terminal. Ctrl-C ends the process, because the terminal stays in its normal mode. */
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
    // The output for a slow reader must not fill the memory of this process.
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
      process.on('SIGHUP', () => first.abort('SIGHUP')); // A terminal and its shell may both send one.
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
      if (!isUtf8(input)) throw new UsageError('the standard input is not valid UTF-8');
      return new TextDecoder().decode(input); // It leaves a byte order mark out.
    },
    ask: isatty(0) && stderr.isTTY ? ask : null,
  },
});
// After --timeout, the process must not wait until its output is read.
if (code === EXIT.timedOut.code && stdout.writableLength > 0) process.exit(code);
// Otherwise this must not be process.exit, because output that is not yet written to a pipe would be lost.
process.exitCode = code;
