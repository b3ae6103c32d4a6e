import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { secondsOf } from '../flag-values.js';
import { idIn, type ServiceFlags, withServiceOptions } from '../flags.js';
import { callJson, callOnce, Refused } from '../service/call.js';
import { jobPath } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { payloadIn, withPayload } from './create.js';

interface KillFlags extends ServiceFlags {
  reason?: string;
}

interface ReleaseFlags extends KillFlags {
  delay?: number;
  deliveryToken?: string;
}

/** `yardmaster kill`: ends a job that has not ended. */
const killCommand = defineCommand({
  name: 'kill',
  define: (command) =>
    withServiceOptions(
      command
        .description('Kill a job that has not ended.')
        .argument('<jobId>', 'the job')
        .option('--reason <text>', 'reason, for its history'),
    ).addHelpText('after', keyHelp('jobs:kill')),
  parse: (line: CommandLine<KillFlags>) => ({
    ...idIn(line, 'killing a job', 'jobs:kill'),
    reason: line.flags.reason ?? null,
  }),
  async run({ service, id, reason }, { out }) {
    await callJson(service, { method: 'POST', path: jobPath(id, 'kill'), body: { reason } });
    return done(out, [`killed ${printable(id)}`]);
  },
});

/** `yardmaster release`: release a job that a worker holds. */
const releaseCommand = defineCommand({
  name: 'release',
  define: (command) =>
    withServiceOptions(
      command
        .description('Give back a job that is delivered or running. The attempt is not counted.')
        .argument('<jobId>', 'the job')
        .option('--reason <text>', 'reason, for its history')
        .option('--delay <time>', 'make it claimable only after this time', secondsOf)
        .option('--delivery-token <token>', 'release it only if this delivery has it'),
    ).addHelpText('after', keyHelp('jobs:fail')),
  parse(line: CommandLine<ReleaseFlags>) {
    const { reason = null, delay: delaySeconds = null, deliveryToken = null } = line.flags;
    return { ...idIn(line, 'releasing a job', 'jobs:fail'), reason, delaySeconds, deliveryToken };
  },
  async run({ service, id, reason, delaySeconds, deliveryToken }, { out }) {
    const body = delaySeconds === null ? { reason } : { reason, delaySeconds };
    const request = { method: 'POST', path: jobPath(id, 'release'), body } as const;
    // Without a token, a call that is sent again could take the job from the next worker.
    if (deliveryToken === null) await callOnce(service, request);
    else await callJson(service, { ...request, headers: { 'x-delivery-token': deliveryToken } });
    return done(out, [`released ${printable(id)}`]);
  },
});

/** `yardmaster requeue`: put a dead or killed job back in the queue. */
const requeueCommand = defineCommand({
  name: 'requeue',
  define: (command) =>
    withServiceOptions(
      command
        .description('Let a dead or killed job wait again, with all of its attempts.')
        .argument('<jobId>', 'the job')
        .option('--delay <time>', 'make it claimable only after this time', secondsOf),
    ).addHelpText('after', keyHelp('jobs:manage')),
  parse: (line: CommandLine<ServiceFlags & { delay?: number }>) => ({
    ...idIn(line, 'requeuing a job', 'jobs:manage'),
    delaySeconds: line.flags.delay ?? null,
  }),
  async run({ service, id, delaySeconds }, { out }) {
    const body = delaySeconds === null ? {} : { delaySeconds };
    await callOnce(service, { method: 'POST', path: jobPath(id, 'requeue'), body });
    return done(out, [`requeued ${printable(id)}`]);
  },
});

/** `yardmaster copy`: creates a job with the options of another one. */
const copyCommand = defineCommand({
  name: 'copy',
  define: (command) =>
    withServiceOptions(
      command
        .description('Create a job with the payload and the options of another one, and print its id.')
        .argument('<jobId>', 'the other job')
        .argument('[payload]', 'another payload, a JSON object; - reads it from the standard input'),
    ).addHelpText('after', keyHelp('jobs:create and jobs:read')),
  parse(line: CommandLine<ServiceFlags>) {
    const payload = payloadIn(line.args[1]);
    return { ...idIn(line, 'copying a job', 'jobs:create'), payload };
  },
  async run({ service, id, payload }, io) {
    const body = await withPayload({}, payload, io);
    const copy = await callOnce<{ id?: unknown }>(service, { method: 'POST', path: jobPath(id, 'copy'), body });
    if (typeof copy?.id !== 'string') throw new Refused('the response is not a job');
    return done(io.out, [printable(copy.id)]);
  },
});

/** `yardmaster delete`: removes a job that has ended. */
const deleteCommand = defineCommand({
  name: 'delete',
  define: (command) =>
    withServiceOptions(
      command.description('Delete a job that has ended, with its history and logs.').argument('<jobId>', 'the job'),
    ).addHelpText('after', keyHelp('jobs:manage')),
  parse: (line: CommandLine<ServiceFlags>) => idIn(line, 'deleting a job', 'jobs:manage'),
  async run({ service, id }, { out }) {
    await callOnce(service, { method: 'DELETE', path: jobPath(id) });
    return done(out, [`deleted ${printable(id)}`]);
  },
});

/** Commands that change one job, in the order of the help. */
export const changeCommands = [killCommand, releaseCommand, requeueCommand, copyCommand, deleteCommand];
