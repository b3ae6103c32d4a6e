import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OPERATION_ACTIONS, type Operation, type OperationAction, STATUSES } from '@yardmaster/protocol';
import { Argument } from 'commander';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { countBetween, repeated, secondsOf } from '../flag-values.js';
import { idIn, type ServiceFlags, type SpaceFlags, spaceIn, withServiceOptions, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';

interface StartFlags extends SpaceFlags {
  status?: string[];
  name?: string[];
  tag?: string[];
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

/** Time between two reads of an operation that a command waits for. */
const READ_EVERY_MS = 500;

/** `yardmaster operations start`: changes all jobs of a space that match. */
const startOperationCommand = defineCommand({
  name: 'operations start',
  define: (command) =>
    withSpaceOption(
      command
        .description(
          'Requeue, kill, delete or reschedule all jobs of a space that match, and print the id of this operation.',
        )
        .addArgument(new Argument('<action>', 'what to do with each job').choices(Object.keys(OPERATION_ACTIONS)))
        .requiredOption(
          '--status <status>',
          `only jobs with this status: ${STATUSES.join(', ')}; may be repeated`,
          repeated,
        )
        .option('--name <name>', 'only jobs of this name; may be repeated', repeated)
        .option('--tag <tag>', 'only jobs with this tag; may be repeated', repeated)
        .option('--created-after <time>', 'only jobs created at this time or later, ISO 8601')
        .option('--created-before <time>', 'only jobs created before this time, ISO 8601')
        .option('--query <text>', 'only jobs with this text in payload, result or error')
        .option('--id <jobId>', 'only this job; may be repeated', repeated)
        .option('--limit <count>', 'the most jobs to change', countBetween(1, Number.MAX_SAFE_INTEGER))
        .option('--delay <time>', 'make the jobs claimable only after this time', secondsOf)
        .option('--reason <text>', 'reason, for the history of killed jobs')
        .option('--dry-run', 'change nothing, and count the jobs that would be changed'),
    )
      .option('--wait', 'wait for the end of the operation, and print its counts')
      .option('--json', 'print the operation as one line of JSON')
      .addHelpText('after', keyHelp('jobs:manage; kill also jobs:kill')),
  parse(line: CommandLine<StartFlags>) {
    const { flags } = line;
    const target = spaceIn(line, 'changing jobs', 'jobs:manage');
    const { limit, reason, delay: delaySeconds, wait: mustWait = false } = flags;
    const { status, name: names, tag: tags, id: ids, createdAfter, createdBefore, query: q } = flags;
    const filter = { status, names, tags, ids, createdAfter, createdBefore, q };
    const body = { action: line.args[0] as OperationAction, filter, limit, dryRun: flags.dryRun, reason, delaySeconds };
    return { ...target, body, mustWait };
  },
  async run({ service, spaceId, body, mustWait, isJson }, { out }) {
    const headers = { 'idempotency-key': randomUUID() }; // With a key, the call can be sent again.
    const path = spacePath(spaceId, 'operations');
    let operation = await call<Operation>(service, { method: 'POST', path, body, headers });
    if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
    while (mustWait && operation.status === 'running') {
      await delay(READ_EVERY_MS);
      operation = await call<Operation>(service, { path: operationPath(operation.id) });
    }
    const line = mustWait ? countsOf(operation) : operation.id;
    return done(out, [isJson ? jsonLine(operation) : printable(line)]);
  },
});

const JSON_FLAG = ['--json', 'print it as lines of JSON, as the service sent it'] as const;

const COLUMNS: Column<Operation>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'ACTION', of: ({ action, dryRun }) => (dryRun ? `${action} (dry run)` : action) },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'CHANGED', of: ({ changed }) => String(changed), isNumber: true },
  { title: 'SKIPPED', of: ({ skipped }) => String(skipped), isNumber: true },
  { title: 'EXAMINED', of: ({ looked }) => String(looked), isNumber: true },
  { title: 'LEFT', of: ({ left }) => String(left), isNumber: true },
  { title: 'STARTED', of: ({ startedAt }) => startedAt },
];

/** `yardmaster operations list`: lists the operations of a space. */
const listOperationsCommand = defineCommand({
  name: 'operations list',
  define: (command) =>
    withSpaceOption(command.description('List the operations of a space, newest first.'))
      .option(...JSON_FLAG)
      .addHelpText('after', keyHelp('jobs:manage or jobs:read')),
  parse: (line: CommandLine<SpaceFlags>) => spaceIn(line, 'listing operations', 'jobs:read'),
  async run({ service, spaceId, isJson }, { out }) {
    const path = spacePath(spaceId, 'operations');
    const { operations } = await call<{ operations: Operation[] }>(service, { path });
    if (!Array.isArray(operations)) throw new Refused('the response is not a list of operations');
    return done(out, isJson ? operations.map(jsonLine) : tableOf(COLUMNS, operations, out));
  },
});

/** `yardmaster operations get`: shows how far an operation is. */
const getOperationCommand = defineCommand({
  name: 'operations get',
  define: (command) =>
    withServiceOptions(command.description('Show how far an operation is.').argument('<operationId>', 'the operation'))
      .option(...JSON_FLAG)
      .addHelpText('after', keyHelp('jobs:manage or jobs:read')),
  parse: (line: CommandLine<ServiceFlags>) => idIn(line, 'an operation', 'jobs:manage'),
  async run({ service, id, isJson }, { out }) {
    const operation = await call<Operation>(service, { path: operationPath(id) });
    if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
    return done(out, [isJson ? jsonLine(operation) : printable(countsOf(operation))]);
  },
});

/** `yardmaster operations cancel`: stops an operation. */
const cancelOperationCommand = defineCommand({
  name: 'operations cancel',
  define: (command) =>
    withServiceOptions(
      command
        .description('Stop an operation. What it has changed stays changed.')
        .argument('<operationId>', 'the operation'),
    ).addHelpText('after', keyHelp('jobs:manage')),
  parse: (line: CommandLine<ServiceFlags>) => idIn(line, 'an operation', 'jobs:manage'),
  async run({ service, id }, { out }) {
    await call(service, { method: 'DELETE', path: operationPath(id) });
    return done(out, [`cancelled ${printable(id)}`]);
  },
});

/** Return the path of an operation, below /api/v1. */
const operationPath = (operationId: string) => `operations/${encodeURIComponent(operationId)}`;

/** Format the status and the counts of an operation. */
function countsOf({ status, dryRun, looked, changed, skipped, left }: Operation): string {
  const counts = `${changed} ${dryRun ? 'would be changed' : 'changed'}, ${skipped} skipped, ${looked} examined`;
  return `${status}: ${counts}${left > 0 ? `, ${left} not examined` : ''}`;
}

/** Commands that change many jobs, in the order of the help. */
export const operationCommands = [
  startOperationCommand,
  listOperationsCommand,
  getOperationCommand,
  cancelOperationCommand,
];
