import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OPERATION_ACTIONS, type Operation, type OperationAction, STATUSES } from '@yardmaster/protocol';
import { Argument } from 'commander';
import { type CommandLine, defineCommand } from '../command.js';
import { type ConfirmFlags, DECLINED, isConfirmed, YES_OPTION } from '../confirm.js';
import { done, keyHelp } from '../exit-codes.js';
import { countBetween, PAST_MOMENT, pastMomentOf, repeated, secondsOf } from '../flag-values.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';

interface StartFlags extends SpaceFlags, ConfirmFlags {
  status?: string[];
  name?: string[];
  tag?: string[];
  schedule?: string;
  createdAfter?: string;
  createdBefore?: string;
  query?: string;
  id?: string[];
  limit?: number;
  dryRun?: boolean;
  reason?: string;
  delay?: number;
  wait?: boolean;
}

/** Interval between reads of an operation while waiting for its end. */
const READ_EVERY_MS = 500;

/** `yardmaster operations start`: changes all jobs of a space that match a filter. */
export const startOperationCommand = defineCommand({
  name: 'operations start',
  example: 'operations start requeue --space demo --status dead --created-after 2h --wait',
  define: (command) =>
    withSpaceOption(
      command
        .description(
          'Requeue, kill, delete or reschedule all matching jobs of a space, and print the ID of the operation.',
        )
        .addArgument(new Argument('<action>', 'what to do with each job').choices(Object.keys(OPERATION_ACTIONS)))
        .requiredOption(
          '--status <status>',
          `required; only jobs with this status: ${STATUSES.join(', ')}; repeatable`,
          repeated,
        )
        .option('--name <name>', 'only jobs with this name; repeatable', repeated)
        .option('--tag <tag>', 'only jobs with this tag; repeatable', repeated)
        .option('--schedule <id>', 'only jobs created by this schedule')
        .option('--created-after <time>', `only jobs created at or after this time: ${PAST_MOMENT}`, pastMomentOf)
        .option('--created-before <time>', 'only jobs created before this time', pastMomentOf)
        .option('--query <text>', 'only jobs whose payload, result or error contains this text')
        .option('--id <jobId>', 'only this job; repeatable', repeated)
        .option('--limit <count>', 'maximum number of jobs to change', countBetween(1, Number.MAX_SAFE_INTEGER))
        .option('--delay <time>', 'make requeued or rescheduled jobs claimable only after this long', secondsOf)
        .option('--reason <text>', 'reason to record in the history of killed jobs')
        .option('--dry-run', 'only count the jobs that would be changed')
        .option(...YES_OPTION),
    )
      .option('--wait', 'wait for the operation to end, and print its counts')
      .option('--json', 'print the operation as one line of JSON')
      .addHelpText('after', keyHelp('jobs:manage, and jobs:kill to kill jobs')),
  parse(line: CommandLine<StartFlags>) {
    const { flags } = line;
    const target = spaceIn(line, 'changing jobs', 'jobs:manage');
    const { limit, reason, delay: delaySeconds, wait: mustWait = false } = flags;
    const { status, name: names, tag: tags, schedule, id: ids, createdAfter, createdBefore, query: q } = flags;
    const filter = { status, names, tags, schedule, ids, createdAfter, createdBefore, q };
    const body = { action: line.args[0] as OperationAction, filter, limit, dryRun: flags.dryRun, reason, delaySeconds };
    return { ...target, body, mustWait, isSure: flags.yes ?? false };
  },
  async run({ service, spaceId, body, mustWait, isSure, isJson }, { ask, out }) {
    const path = spacePath(spaceId, 'operations');
    if (!body.dryRun && !isSure && ask !== null) {
      const { changed: count } = await endOf(service, await start(service, path, { ...body, dryRun: true }));
      const where = ` in ${printable(spaceId)}`;
      if (count > 0 && !(await isConfirmed(ask, { action: body.action, count, where }))) return DECLINED;
    }
    const started = await start(service, path, body);
    const operation = mustWait ? await endOf(service, started) : started;
    const line = mustWait ? countsOf(operation) : operation.id;
    return done(out, [isJson ? jsonLine(operation) : printable(line)]);
  },
});

async function start(service: Service, path: string, body: object): Promise<Operation> {
  const headers = { 'idempotency-key': randomUUID() }; // Makes retries safe.
  const operation = await call<Operation>(service, { method: 'POST', path, body, headers });
  if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
  return operation;
}

/** Wait for an operation to end, and return its final state. */
async function endOf(service: Service, started: Operation): Promise<Operation> {
  let operation = started;
  while (operation.status === 'running') {
    await delay(READ_EVERY_MS);
    operation = await call<Operation>(service, { path: operationPath(operation.id) });
  }
  return operation;
}

/** Return the path of an operation, relative to /api/v1. */
export const operationPath = (operationId: string) => `operations/${encodeURIComponent(operationId)}`;

/** Format the status and the counts of an operation. */
export function countsOf({ status, dryRun, looked, changed, skipped, left }: Operation): string {
  const counts = `${changed} ${dryRun ? 'would be changed' : 'changed'}, ${skipped} skipped, ${looked} examined`;
  return `${status}: ${counts}${left > 0 ? `, ${left} not examined` : ''}`;
}
