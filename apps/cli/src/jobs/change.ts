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

/** A command that changes one or more jobs, one at a time. */
interface EachCommand<Flags extends ServiceFlags & ConfirmFlags> {
  name: string;
  description: string;
  example: string;
  options?: (command: Command) => Command;
  /** For the error without an API key, such as `killing`. */
  doing: string;
  /** For the output about each job, such as `killed`. */
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
            .argument('<jobId...>', 'IDs of the jobs; - reads them from standard input, one per line')
            .option(...YES_OPTION),
        ),
      ).addHelpText('after', keyHelp(of.scope)),
    parse(line: CommandLine<Flags>) {
      const { service } = idIn(line, `${of.doing} a job`, of.scope);
      return { service, ids: line.args, flags: line.flags };
    },
    /** Change each job, and continue after a refusal. */
    async run({ service, ids, flags }, io): Promise<Outcome> {
      const input = ids.includes('-') ? (await io.readInput()).split('\n') : [];
      const all = ids.flatMap((id) => (id === '-' ? input : [id])).map((id) => id.trim());
      const wanted = all.filter((id) => id !== '');
      // After reading IDs from a terminal, its input is closed, so nobody could answer.
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
  options: (command) => command.option('--reason <text>', 'reason to record in their history'),
  doing: 'killing',
  past: 'killed',
  scope: 'jobs:kill',
  change: (service, id, { reason = null }) =>
    call(service, { method: 'POST', path: jobPath(id, 'kill'), body: { reason } }),
});

/** `yardmaster release`: returns a claimed job to the queue. */
const releaseCommand = defineCommand({
  name: 'release',
  example: 'release $JOB --delay 30s',
  define: (command) =>
    withServiceOptions(
      command
        .description('Return a delivered or running job to the queue, without using up an attempt.')
        .argument('<jobId>', 'ID of the job')
        .option('--reason <text>', 'reason to record in its history')
        .option('--delay <time>', 'make the job claimable only after this long', secondsOf)
        .option('--delivery-token <token>', 'release the job only if this delivery still holds it'),
    ).addHelpText('after', keyHelp('jobs:fail')),
  parse(line: CommandLine<ReleaseFlags>) {
    const { reason = null, delay: delaySeconds = null, deliveryToken = null } = line.flags;
    return { ...idIn(line, 'releasing a job', 'jobs:fail'), reason, delaySeconds, deliveryToken };
  },
  async run({ service, id, reason, delaySeconds, deliveryToken }, { out }) {
    const body = delaySeconds === null ? { reason } : { reason, delaySeconds };
    const request = { method: 'POST', path: jobPath(id, 'release'), body } as const;
    // Without a token, a retry could take the job from the next worker.
    const once = { isOnce: true };
    const ofDelivery = deliveryToken === null ? once : { headers: { 'x-delivery-token': deliveryToken } };
    await call(service, { ...request, ...ofDelivery });
    return done(out, [`released ${printable(id)}`]);
  },
});

const requeueCommand = eachCommand<ServiceFlags & ConfirmFlags & { delay?: number }>({
  name: 'requeue',
  example: 'requeue - < ids.txt',
  description: 'Put dead or killed jobs back in the queue, with a fresh set of attempts.',
  options: (command) => command.option('--delay <time>', 'make the jobs claimable only after this long', secondsOf),
  doing: 'requeuing',
  past: 'requeued',
  scope: 'jobs:manage',
  change: (service, id, { delay: delaySeconds }) =>
    call(service, { isOnce: true, method: 'POST', path: jobPath(id, 'requeue'), body: { delaySeconds } }),
});

/** `yardmaster copy`: creates a job like another one. */
const copyCommand = defineCommand({
  name: 'copy',
  example: `copy $JOB '{"image": "b.png"}'`,
  define: (command) =>
    withServiceOptions(
      command
        .description('Create a job with the payload and options of another one, and print its ID.')
        .argument('<jobId>', 'ID of the job to copy')
        .argument('[payload]', 'different payload, a JSON object; - reads it from standard input'),
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
