import { type CliCommand, UsageError } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { secondsOf } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, mayPassOnce } from '../service/call.js';
import { jobPath, type Service } from '../service/service.js';
import { printable } from '../terminal/printable.js';

interface KillFlags extends ServiceFlags {
  reason?: string;
}

interface ReleaseFlags extends KillFlags {
  delay?: number;
  deliveryToken?: string;
}

/** Parsed command line of `kill`. */
export interface KillRequest {
  service: Service;
  jobId: string;
  reason: string | null;
}

/** Parsed command line of `release`. */
export interface ReleaseRequest extends KillRequest {
  delaySeconds: number | null;
  /** Null to release the job whichever worker has it. */
  deliveryToken: string | null;
}

/** `yardmaster kill`: ends a job that has not ended. */
export const killCommand: CliCommand<KillRequest, KillFlags> = {
  name: 'kill',
  define: (command) =>
    withServiceOptions(
      command
        .description('Kill a job that has not ended.')
        .argument('<jobId>', 'the job')
        .option('--reason <text>', 'reason, for its history'),
    ).addHelpText('after', `\nNeeds a key with jobs:kill.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([jobId = ''], flags, env) {
    const service = serviceOf(flags, env);
    if (jobId === '') throw new UsageError('the id is empty');
    expectKey(service, 'killing a job', 'jobs:kill');
    return { service, jobId, reason: flags.reason ?? null };
  },
  async run({ service, jobId, reason }, { out }) {
    await callJson(service, { method: 'POST', path: jobPath(jobId, 'kill'), body: { reason } });
    out.write(`killed ${printable(jobId)}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

/** `yardmaster release`: release a job that a worker holds. */
export const releaseCommand: CliCommand<ReleaseRequest, ReleaseFlags> = {
  name: 'release',
  define: (command) =>
    withServiceOptions(
      command
        .description('Give back a job that is delivered or running. The attempt is not counted.')
        .argument('<jobId>', 'the job')
        .option('--reason <text>', 'reason, for its history')
        .option('--delay <seconds>', 'make it claimable only after this time', secondsOf)
        .option('--delivery-token <token>', 'release it only if this delivery has it'),
    ).addHelpText('after', `\nNeeds a key with jobs:fail.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([jobId = ''], flags, env) {
    const service = serviceOf(flags, env);
    if (jobId === '') throw new UsageError('the id is empty');
    expectKey(service, 'releasing a job', 'jobs:fail');
    const { reason = null, delay: delaySeconds = null, deliveryToken = null } = flags;
    return { service, jobId, reason, delaySeconds, deliveryToken };
  },
  async run({ service, jobId, reason, delaySeconds, deliveryToken }, { out }) {
    const body = delaySeconds === null ? { reason } : { reason, delaySeconds };
    const request = { method: 'POST', path: jobPath(jobId, 'release'), body } as const;
    if (deliveryToken === null) {
      // Without a token, a call that is sent again could take the job from the next worker.
      await callJson(service, request, { isPassing: mayPassOnce });
    } else {
      await callJson(service, { ...request, headers: { 'x-delivery-token': deliveryToken } });
    }
    out.write(`released ${printable(jobId)}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};
