import { once } from 'node:events';
import { EXIT } from './exit-codes.js';
import { runProgram } from './program.js';

const { stdout, stderr } = process;

/** Set by a command that prints something at Ctrl-C, and then ends by itself. */
let interrupt: AbortController | null = null;

// End at once, unless the command ends by itself. The line end keeps the prompt from standing behind the "^C".
process.on('SIGINT', () => {
  if (stderr.isTTY) stderr.write('\n');
  if (interrupt === null || interrupt.signal.aborted) process.exit(EXIT.interrupted.code);
  interrupt.abort();
});

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the output, for example. A reader that has closed it does not want an error message.
    if (error.code === 'EPIPE') process.exit(EXIT.outputClosed.code);
    stderr.write(`yardmaster: cannot write the output (${error.code})\n`, () => process.exit(EXIT.refused.code));
  });
}

const code = await runProgram(process.argv.slice(2), {
  env: process.env,
  io: {
    out: stdout,
    err: stderr,
    // The output for a slow reader must not fill the memory of this process.
    waitForDrain: () => (stdout.writableNeedDrain ? once(stdout, 'drain') : null),
    interruptSignal() {
      interrupt ??= new AbortController();
      return interrupt.signal;
    },
  },
});
// After --timeout, the process must not wait until its output is read.
if (code === EXIT.timedOut.code && stdout.writableLength > 0) process.exit(code);
// Otherwise this must not be process.exit, because output that is not yet written to a pipe would be lost.
process.exitCode = code;
