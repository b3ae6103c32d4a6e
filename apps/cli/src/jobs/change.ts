import type { Command } from 'commander';
import { type CommandLine, defineCommand } from '../command.js';
import { type ConfirmFlags, DECLINED, isConfirmed, YES_OPTION } from '../confirm.js';
import { DONE, done, failureOf, keyHelp, type Outcome } from '../exit-codes.js';
import { secondsOf } from '../flag-values.js';
import { idIn, type ServiceFlags, withServiceOptions } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { jobPath, type Service } from '../service/service.js';
import { printable } from '../terminal/printable.js';
import { payloadIn, withPayload } from './payload.js';

interface KillFlags extends ServiceFlags, ConfirmFlags {
  reason?: string;
}

interface ReleaseFlags extends KillFlags {
  delay?: number;
  deliveryToken?: string;
}

/** A command that changes jobs one after the other. */
interface EachCommand<Flags extends ServiceFlags & ConfirmFlags> {
  name: string;
  description: string;
  example: string;
  options?: (command: Command) => Command;
  doing: string;
  /** What the output says about each job. */
  past: string;
  scope: 'jobs:kill' | 'jobs:manage';
  change: (service: Service, id: string, flags: Flags) => Promise<unknown>;
}

const eachCommand = <Flags extends ServiceFlags & ConfirmFlags>(of: EachCommand<Flags>) =>
  defineCommand({
    name: of.name,
    example: of.example,
    define: (command) =>
      withServiceOptions(
        (of.options ?? ((same) => same))(
          command
            .description(of.description)
            .argument('<jobId...>', 'the jobs; - reads their ids from the standard input, one on each line')
            .option(...YES_OPTION),
        ),
      ).addHelpText('after', keyHelp(of.scope)),
    parse(line: CommandLine<Flags>) {
      const { service } = idIn(line, `${of.doing} a job`, of.scope);
      return { service, ids: line.args, flags: line.flags };
    },
    /** Change each job. A refusal does not keep the others from being changed. */
    async run({ service, ids, flags }, io): Promise<Outcome> {
      const input = ids.includes('-') ? (await io.readInput()).split('\n') : [];
      const all = ids.flatMap((id) => (id === '-' ? input : [id])).map((id) => id.trim());
      const wanted = all.filter((id) => id !== '');
      // Who types ids on a terminal ends the input, so that it can have no answer.
      const mustAsk = wanted.length > 1 && !flags.yes && !ids.includes('-');
      if (mustAsk && io.ask !== null && !(await isConfirmed(io.ask, { action: of.name, count: wanted.length }))) {
        return DECLINED;
      }
      let outcome = DONE;
      for (const id of wanted) {
        try {
          await of.change(service, id, flags);
          io.out.write(`${of.past} ${printable(id)}\n`);
        } catch (error) {
          const { exit, sentence } = failureOf(error);
          if (wanted.length === 1) return { exit, sentence };
          io.err.write(`yardmaster: ${printable(id)}: ${sentence}\n`);
          outcome = { exit, sentence: null };
        }
      }
      return outcome;
    },
  });

const killCommand = eachCommand<KillFlags>({
  name: 'kill',
  example: "kill $JOB --reason 'wrong image'",
  description: 'Kill jobs that have not ended.',
  options: (command) => command.option('--reason <text>', 'reason, for their history'),
  doing: 'killing',
  past: 'killed',
  scope: 'jobs:kill',
  change: (service, id, { reason = null }) =>
    call(service, { method: 'POST', path: jobPath(id, 'kill'), body: { reason } }),
});

/** `yardmaster release`: release a job that a worker holds. */
const releaseCommand = defineCommand({
  name: 'release',
  example: 'release $JOB --delay 30s',
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
    const once = { isOnce: true };
    const ofDelivery = deliveryToken === null ? once : { headers: { 'x-delivery-token': deliveryToken } };
    await call(service, { ...request, ...ofDelivery });
    return done(out, [`released ${printable(id)}`]);
  },
});

const requeueCommand = eachCommand<ServiceFlags & ConfirmFlags & { delay?: number }>({
  name: 'requeue',
  example: 'requeue - < ids.txt',
  description: 'Put dead or killed jobs back in the queue, with all of their attempts.',
  options: (command) => command.option('--delay <time>', 'make them claimable only after this time', secondsOf),
  doing: 'requeuing',
  past: 'requeued',
  scope: 'jobs:manage',
  change: (service, id, { delay: delaySeconds }) =>
    call(service, { isOnce: true, method: 'POST', path: jobPath(id, 'requeue'), body: { delaySeconds } }),
});

/** `yardmaster copy`: creates a job with the options of another one. */
const copyCommand = defineCommand({
  name: 'copy',
  example: `copy $JOB '{"image": "b.png"}'`,
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
    const copy = await call<{ id?: unknown }>(service, {
      isOnce: true,
      method: 'POST',
      path: jobPath(id, 'copy'),
      body,
    });
    if (typeof copy?.id !== 'string') throw new Refused('the response is not a job');
    return done(io.out, [printable(copy.id)]);
  },
});

const deleteCommand = eachCommand({
  name: 'delete',
  example: 'delete $JOB',
  description: 'Delete jobs that have ended, with their history and logs.',
  doing: 'deleting',
  past: 'deleted',
  scope: 'jobs:manage',
  change: (service, id) => call(service, { isOnce: true, method: 'DELETE', path: jobPath(id) }),
});

/** Commands that change jobs, in the order of the help. */
export const changeCommands = [killCommand, releaseCommand, requeueCommand, copyCommand, deleteCommand];
