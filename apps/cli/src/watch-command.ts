import type { Command } from 'commander';
import type { Subject } from './addresses.js';
import { EXIT, EXIT_MEANINGS } from './exit-codes.js';
import {
  actionOf,
  type CommonFlags,
  type CommonRequest,
  commonRequestOf,
  type Env,
  HOW_TO_GIVE_A_KEY,
  UsageError,
  withCommonOptions,
} from './options.js';

/** What a command line of `watch` asks for. The format `auto` is drawn on a terminal. */
export interface WatchRequest extends CommonRequest {
  subject: Subject;
}

interface Flags extends CommonFlags {
  space?: string;
}

/** Add `watch` to a program. */
export function addWatch(program: Command, env: Env, run: (request: WatchRequest) => Promise<void>): void {
  const command = program.command('watch');
  command
    .description('Watch a job until it ends, or the events of a space until Ctrl-C.')
    .argument('[jobId]', 'the job')
    .option('--space <spaceId>', 'watch all jobs of a space instead; needs a key with jobs:read');
  withCommonOptions(command, { json: 'one JSON line per message' })
    .addHelpText('after', HELP)
    .action(actionOf(command, (jobId: string | undefined, flags: Flags) => run(requestOf(jobId, flags, env))));
}

const HELP = `
Without a key a job shows its progress and its completion, and nothing else.

Exit codes:
${Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padStart(3)}  ${EXIT_MEANINGS[name as keyof typeof EXIT]}`)
  .join('\n')}
`;

function requestOf(jobId: string | undefined, flags: Flags, env: Env): WatchRequest {
  const common = commonRequestOf(flags, env);
  const subject = subjectOf(jobId, flags.space);
  if (subject.kind === 'space' && common.service.token === null) {
    throw new UsageError(`a space is watched with an API key that holds jobs:read; ${HOW_TO_GIVE_A_KEY}`);
  }
  return { subject, ...common };
}

function subjectOf(jobId: string | undefined, spaceId: string | undefined): Subject {
  if ((jobId === undefined) === (spaceId === undefined)) throw new UsageError('give either a job id or --space');
  if (jobId === '' || spaceId === '') throw new UsageError('the id is empty');
  return jobId === undefined ? { kind: 'space', spaceId: spaceId as string } : { kind: 'job', jobId };
}
