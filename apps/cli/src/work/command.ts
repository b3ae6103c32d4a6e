import { hostname } from 'node:os';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { exitCodesHelp, WORK_EXIT } from '../exit-codes.js';
import { countBetween, drainSecondsOf, repeated } from '../flag-values.js';
import { expectKey, type SpaceFlags, serviceOf, spaceOf, withSpaceOption } from '../flags.js';
import { work } from './worker.js';

interface Flags extends SpaceFlags {
  exec: string;
  name?: string[];
  concurrency?: number;
  drain?: number;
  workerId?: string;
}

const DEFAULTS = { concurrency: 1, drainSeconds: 20 };

/** `yardmaster work`: a worker that starts a program for each job. */
export const workCommand = defineCommand({
  name: 'work',
  example: 'work --space demo --name resize --concurrency 4 --exec ./resize.sh',
  define: (command) =>
    withSpaceOption(
      command
        .description('Work on jobs: start a program for each, with the payload on its standard input.')
        .argument('[args...]', 'arguments of the program, after --')
        .requiredOption('--exec <program>', 'the program; it is started without a shell')
        .option('--name <name>', 'claim only jobs of this name; may be repeated', repeated)
        .option(
          '--concurrency <count>',
          `jobs at the same time (default: ${DEFAULTS.concurrency})`,
          countBetween(1, 1_000),
        )
        .option(
          '--drain <time>',
          `how long to wait for running jobs after the first signal (default: ${DEFAULTS.drainSeconds}s)`,
          drainSecondsOf,
        )
        .option('--worker-id <id>', 'name of the worker, which its jobs show (default: host and process id)'),
    ).addHelpText('after', HELP),
  parse({ args, flags, env }: CommandLine<Flags>) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    if (flags.exec === '') throw new UsageError('--exec is empty');
    expectKey(service, 'working on jobs', 'jobs:worker');
    return {
      service,
      spaceId,
      names: flags.name ?? [],
      program: { file: flags.exec, args, env },
      concurrency: flags.concurrency ?? DEFAULTS.concurrency,
      drainSeconds: flags.drain ?? DEFAULTS.drainSeconds,
      // Ids have at most 128 characters.
      workerId: flags.workerId ?? `${hostname().slice(0, 100)}-${process.pid}`,
    };
  },
  run: work,
});

const HELP = `
Needs a key with jobs:worker. The program gets the payload as JSON on its standard input, and these variables:
YARDMASTER_JOB_ID, YARDMASTER_JOB_NAME, YARDMASTER_ATTEMPT, and YARDMASTER_CHECKPOINT, which is empty without one.

The exit code of the program decides about the job:
    0  complete; the standard output is the result
   65  fail, and do not retry
   75, or any other: fail, and retry while retries are left; the error is the end of the standard error

Lines that the program writes to file descriptor 3:
  progress 40 Resizing     checkpoint {"page":7}     event {"any":"JSON"}     log warn low on memory
${exitCodesHelp(WORK_EXIT)}`;
