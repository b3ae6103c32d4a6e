import { plainLine, runProgram, type ShowLogsOptions, showLogs } from '@yardmaster/cli';
import { showCallbackSecrets } from '../../apps/cli/src/callback-secret.js';
import { jsonDisplay, plainDisplay } from '../../apps/cli/src/display.js';
import { runFsck } from '../../apps/cli/src/fsck/run-fsck.js';
import { jsonLine } from '../../apps/cli/src/logs/entry-line.js';
import type { Outcome } from '../../apps/cli/src/outcome.js';
import { runFormat } from '../../apps/cli/src/run-format.js';
import { watch } from '../../apps/cli/src/watch.js';
import { keepOutput, type Run } from './yardmaster.js';

/** A run that a failed test leaves behind ends after this time, because there is no process to kill. */
const TIMEOUT_SECONDS = 25;

/**
 * Run the command as if its output was a pipe, but in this process, so that it is quick enough for a table of cases.
 *
 * @param drained see ShowLogsOptions; default: the reader takes all at once
 */
export function yardmasterHere(
  args: string[],
  env: Record<string, string>,
  drained: ShowLogsOptions['drained'] = () => null,
): Run {
  const { write, complain, run } = keepOutput();
  const channels = { out: { write }, err: { write: complain } };
  const codeOf = ({ code, sentence }: Outcome) => {
    if (sentence !== null) complain(`yardmaster: ${sentence}\n`);
    return code;
  };
  const ended = runProgram(args, {
    env,
    out: write,
    err: complain,
    async watch({ format, timeoutSeconds, ...request }) {
      const withJob = request.subject.kind === 'space';
      const display = format === 'json' ? jsonDisplay(channels) : plainDisplay(channels, { withJob });
      return codeOf(await watch({ ...request, timeoutSeconds: timeoutSeconds ?? TIMEOUT_SECONDS, display, drained }));
    },
    async logs({ format, timeoutSeconds, ...request }) {
      const limited = { ...request, timeoutSeconds: timeoutSeconds ?? TIMEOUT_SECONDS };
      const lineOf = format === 'json' ? jsonLine : plainLine;
      const notice = (sentence: string) => complain(`${sentence}\n`);
      return codeOf(await showLogs({ request: limited, lineOf, out: write, drained, notice }));
    },
    format: (request) => runFormat(request, channels),
    fsck: (request) => runFsck(request, { ...channels, drained, signal: new AbortController().signal }),
    callbackSecret: async (request) => codeOf(await showCallbackSecrets(request, write)),
  });
  return run(() => ended);
}
