import { once } from 'node:events';
import { showCallbackSecrets } from './callback-secret.js';
import { type Display, jsonDisplay, plainDisplay } from './display.js';
import { EXIT } from './exit-codes.js';
import { jsonLine, plainLine, terminalLine } from './logs/entry-line.js';
import { showLogs } from './logs/show-logs.js';
import type { Format } from './options.js';
import type { Outcome } from './outcome.js';
import { runProgram } from './program.js';
import { jobDisplay, spaceDisplay } from './terminal-display.js';
import { watch } from './watch.js';
import type { WatchRequest } from './watch-command.js';

const { stdout, stderr } = process;
const channels = { out: stdout, err: stderr };

/** Set by a command that prints something at Ctrl-C, and then ends by itself. */
let interruptible: AbortController | null = null;

// End at once, unless the command ends by itself. The line end keeps the prompt from standing behind the "^C".
process.on('SIGINT', () => {
  if (stderr.isTTY) stderr.write('\n');
  if (interruptible === null || interruptible.signal.aborted) process.exit(EXIT.interrupted);
  interruptible.abort();
});

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` closes the output, for example. A reader that has closed it does not want an error message.
    if (error.code === 'EPIPE') process.exit(EXIT.outputClosed);
    stderr.write(`yardmaster: cannot write the output (${error.code})\n`, () => process.exit(EXIT.refused));
  });
}

// The output for a slow reader must not fill the memory of this process.
const drained = () => (stdout.writableNeedDrain ? once(stdout, 'drain') : null);

// This must not be process.exit, because output that is not yet written to a pipe would be lost.
process.exitCode = await runProgram(process.argv.slice(2), {
  env: process.env,
  out: (text) => stdout.write(text),
  err: (text) => stderr.write(text),
  watch: async ({ format, ...request }) =>
    codeOf(await watch({ ...request, display: displayFor(format, request.subject), drained })),
  logs: async ({ format, ...request }) =>
    codeOf(
      await showLogs({
        request,
        lineOf: lineFor(format),
        out: (text) => stdout.write(text),
        drained,
        notice: (sentence) => stderr.write(`${sentence}\n`),
      }),
    ),
  fsck: async (request) => {
    interruptible = new AbortController();
    // Import it only now, because it loads the whole store. The other commands start in half the time without it.
    const { runFsck } = await import('./fsck/run-fsck.js');
    return runFsck(request, { ...channels, drained, signal: interruptible.signal });
  },
  callbackSecret: async (request) => codeOf(await showCallbackSecrets(request, (text) => stdout.write(text))),
  format: async (request) => {
    const { runFormat } = await import('./run-format.js'); // Import it only now, as above.
    return runFormat(request, channels);
  },
});

function codeOf({ code, sentence }: Outcome): number {
  if (sentence !== null) stderr.write(`yardmaster: ${sentence}\n`);
  // Otherwise the process would wait until its output is read.
  if (code === EXIT.timedOut && stdout.writableLength > 0) process.exit(code);
  return code;
}

function lineFor(format: Format) {
  if (format === 'json') return jsonLine;
  return format === 'plain' || !stdout.isTTY ? plainLine : terminalLine;
}

function displayFor(format: WatchRequest['format'], subject: WatchRequest['subject']): Display {
  if (format === 'json') return jsonDisplay(channels);
  if (format === 'plain' || !stdout.isTTY) return plainDisplay(channels, { withJob: subject.kind === 'space' });
  return subject.kind === 'space' ? spaceDisplay(stdout) : jobDisplay(stdout, subject.jobId);
}
