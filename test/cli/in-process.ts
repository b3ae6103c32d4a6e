import { type Io, runProgram } from '@yardmaster/cli';
import { keepOutput, type Run } from './yardmaster.js';

/** Limit of a run that a failed test leaves behind, because there is no process to kill. */
const TIMEOUT_SECONDS = 25;

/** Parts of Io for a command that gets neither signals nor input. */
export const NO_INPUT: Pick<Io, 'stopSignals' | 'readInput' | 'ask'> = {
  stopSignals: () => ({ first: new AbortController().signal, second: new AbortController().signal }),
  readInput: async () => '',
  ask: null,
};

/**
 * Run the CLI in this process as if its output were a pipe, which is fast enough for a table of cases.
 *
 * @param others parts of Io; by default the reader takes everything at once, and the input is empty
 */
export function yardmasterHere(
  args: string[],
  env: Record<string, string>,
  { out, ...others }: Partial<Omit<Io, 'out'>> & { out?: Omit<Io['out'], 'write'> } = {},
): Run {
  const { write, writeErr, run } = keepOutput();
  const { signal } = new AbortController();
  const io: Io = {
    out: { write, ...out },
    err: { write: writeErr },
    waitForDrain: () => null,
    interruptSignal: () => signal,
    ...NO_INPUT,
    ...others,
  };
  const ended = runProgram(args, {
    env,
    io,
    run(command, request) {
      const limited = { ...(request as { timeoutSeconds?: number | null }) };
      if (limited.timeoutSeconds === null) limited.timeoutSeconds = TIMEOUT_SECONDS;
      return command.run(limited, io);
    },
  });
  return run(() => ended);
}
