import type { JobWithEvents } from '@yardmaster/protocol';
import { type CliCommand, UsageError } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { jobPath, type Service } from '../service/service.js';
import { printableJson } from '../terminal/printable.js';
import { linesOfJob } from './job-lines.js';

interface Flags extends ServiceFlags {
  json?: boolean;
}

/** Parsed command line of `get`. */
export interface GetRequest {
  service: Service;
  jobId: string;
  isJson: boolean;
}

/** `yardmaster get`: shows a job with its history. */
export const getCommand: CliCommand<GetRequest, Flags> = {
  name: 'get',
  define: (command) =>
    withServiceOptions(command.description('Show a job with its history.').argument('<jobId>', 'the job'))
      .option('--json', 'print the job as one line of JSON, as the service sent it')
      .addHelpText('after', `\nNeeds a key with jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([jobId = ''], flags, env) {
    const service = serviceOf(flags, env);
    if (jobId === '') throw new UsageError('the id is empty');
    expectKey(service, 'reading a job', 'jobs:read');
    return { service, jobId, isJson: flags.json ?? false };
  },
  async run({ service, jobId, isJson }, { out }) {
    const job = await callJson<JobWithEvents>(service, { path: jobPath(jobId) });
    if (!Array.isArray(job?.events)) throw new Refused('the response is not a job');
    const lines = isJson ? [printableJson(JSON.stringify(job))] : linesOfJob(job, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    return { exit: CALL_EXIT.done, sentence: null };
  },
};
