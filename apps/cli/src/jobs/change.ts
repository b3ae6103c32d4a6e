import type { Scope } from '@yardmaster/protocol';
import type { OptionValues } from 'commander';
import { type CliCommand, type Env, type Io, UsageError } from '../command.js';
import { CALL_EXIT, exitCodesHelp, type Outcome } from '../exit-codes.js';
import { secondsOf } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, mayPassOnce, Refused } from '../service/call.js';
import type { ApiRequest } from '../service/send.js';
import { jobPath, type Service } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { jsonIn } from './create.js';

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

/** Parsed command line of `delete`. */
export interface DeleteRequest {
  service: Service;
  jobId: string;
}

/** Parsed command line of `requeue`. */
export interface RequeueRequest extends DeleteRequest {
  delaySeconds: number | null;
}

/** Parsed command line of `copy`. */
export interface CopyRequest extends DeleteRequest {
  /** JSON text; `-` for the standard input, null for that of the job. */
  payload: string | null;
}

/** Return the job that a command line names, and the service. */
function jobOf(jobId: string, flags: ServiceFlags, env: Env, why: [act: string, scope: Scope]) {
  const service = serviceOf(flags, env);
  if (jobId === '') throw new UsageError('the id is empty');
  expectKey(service, ...why);
  return { service, jobId };
}

/** Make a call that must not be made twice: when its response is lost, its outcome is unknown. */
const callOnce = <T>(service: Service, request: ApiRequest) =>
  callJson<T>(service, request, { isPassing: mayPassOnce });

function done(io: Io, line: string): Outcome {
  io.out.write(`${line}\n`);
  return { exit: CALL_EXIT.done, sentence: null };
}

/** `yardmaster requeue`: put a dead or killed job back in the queue. */
export const requeueCommand: CliCommand<RequeueRequest, ServiceFlags & { delay?: number }> = {
  name: 'requeue',
  define: (command) =>
    withServiceOptions(
      command
        .description('Let a dead or killed job wait again, with all of its attempts.')
        .argument('<jobId>', 'the job')
        .option('--delay <seconds>', 'make it claimable only after this time', secondsOf),
    ).addHelpText('after', `\nNeeds a key with jobs:manage.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([jobId = ''], flags, env) {
    return { ...jobOf(jobId, flags, env, ['requeuing a job', 'jobs:manage']), delaySeconds: flags.delay ?? null };
  },
  async run({ service, jobId, delaySeconds }, io) {
    const body = delaySeconds === null ? {} : { delaySeconds };
    await callOnce(service, { method: 'POST', path: jobPath(jobId, 'requeue'), body });
    return done(io, `requeued ${printable(jobId)}`);
  },
};

/** `yardmaster copy`: creates a job with the options of another one. */
export const copyCommand: CliCommand<CopyRequest, ServiceFlags> = {
  name: 'copy',
  define: (command) =>
    withServiceOptions(
      command
        .description('Create a job with the payload and the options of another one, and print its id.')
        .argument('<jobId>', 'the other job')
        .argument('[payload]', 'another payload, a JSON object; - reads it from the standard input'),
    ).addHelpText('after', `\nNeeds a key with jobs:create and jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([jobId = '', payload], flags, env) {
    if (payload !== undefined && payload !== '-') jsonIn(payload);
    const job = jobOf(jobId, flags, env, ['copying a job', 'jobs:create']);
    return { ...job, payload: payload ?? null };
  },
  async run({ service, jobId, payload }, io) {
    const text = payload === '-' ? await io.readInput() : payload;
    const body = text === null ? {} : { payload: jsonIn(text) };
    const copy = await callOnce<{ id?: unknown }>(service, { method: 'POST', path: jobPath(jobId, 'copy'), body });
    if (typeof copy?.id !== 'string') throw new Refused('the response is not a job');
    return done(io, printable(copy.id));
  },
};

/** `yardmaster delete`: removes a job that has ended. */
export const deleteCommand: CliCommand<DeleteRequest, ServiceFlags & OptionValues> = {
  name: 'delete',
  define: (command) =>
    withServiceOptions(
      command.description('Delete a job that has ended, with its history and logs.').argument('<jobId>', 'the job'),
    ).addHelpText('after', `\nNeeds a key with jobs:manage.\n${exitCodesHelp(CALL_EXIT)}`),
  parse: ([jobId = ''], flags, env) => jobOf(jobId, flags, env, ['deleting a job', 'jobs:manage']),
  async run({ service, jobId }, io) {
    await callOnce(service, { method: 'DELETE', path: jobPath(jobId) });
    return done(io, `deleted ${printable(jobId)}`);
  },
};
