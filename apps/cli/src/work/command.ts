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

/** `yardmaster work`: a worker that runs a program for each job. */
export const workCommand = defineCommand({
  name: 'work',
  example: 'work --space demo --name resize --concurrency 4 --exec ./resize.sh',
  define: (command) =>
    withSpaceOption(
      command
        .description('Run a program for each job, with the payload on its standard input.')
        .argument('[args...]', 'arguments for the program, after --')
        .requiredOption('--exec <program>', 'required; program to run, without a shell')
        .option('--name <name>', 'claim only jobs with this name; repeatable (default: any name)', repeated)
        .option(
          '--concurrency <count>',
          `maximum number of jobs to run at once (default: ${DEFAULTS.concurrency})`,
          countBetween(1, 1_000),
        )
        .option(
          '--drain <time>',
          `how long to wait for running jobs after the first signal (default: ${DEFAULTS.drainSeconds}s)`,
          drainSecondsOf,
        )
        .option('--worker-id <id>', 'name of the worker, shown on its jobs (default: host name and process ID)'),
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
      // The service accepts IDs of up to 128 characters.
      workerId: flags.workerId ?? `${hostname().slice(0, 100)}-${process.pid}`,
    };
  },
  run: work,
});

const HELP = `
Requires an API key with jobs:worker.

The program reads the payload as JSON from standard input. It also gets these variables: YARDMASTER_JOB_ID,
YARDMASTER_JOB_NAME, YARDMASTER_ATTEMPT and YARDMASTER_CHECKPOINT, which is empty without a checkpoint.

The exit code of the program determines what happens to the job:
    0  it completes; standard output is the result
   65  it fails without retries; the end of standard error is the error
   75, or any other: it fails, and is retried if it has retries left

To report progress, checkpoints, events and log entries, the program writes lines like these to file descriptor 3:
  progress 40 Resizing
  checkpoint {"page":7}
  event {"any":"JSON"}
  log warn low on memory
${exitCodesHelp(WORK_EXIT)}`;
