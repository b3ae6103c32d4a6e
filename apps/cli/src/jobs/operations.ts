import type { Operation } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { idIn, type ServiceFlags, type SpaceFlags, spaceIn, withServiceOptions, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { spacePath } from '../service/service.js';
import { jsonLine, printable } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { countsOf, operationPath, startOperationCommand } from './start-operation.js';

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
  example: 'operations list --space demo',
  define: (command) =>
    withSpaceOption(command.description('List the operations of a space, newest first.'))
      .option('--json', 'print each operation as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read or jobs:manage')),
  parse: (line: CommandLine<SpaceFlags>) => spaceIn(line, 'listing operations', 'jobs:read'),
  async run({ service, spaceId, isJson }, { out }) {
    const path = spacePath(spaceId, 'operations');
    const { operations } = await call<{ operations: Operation[] }>(service, { path });
    if (!Array.isArray(operations)) throw new Refused('the response is not a list of operations');
    return done(out, isJson ? operations.map(jsonLine) : tableOf(COLUMNS, operations, out));
  },
});

/** `yardmaster operations get`: shows the progress of an operation. */
const getOperationCommand = defineCommand({
  name: 'operations get',
  example: 'operations get $OPERATION',
  define: (command) =>
    withServiceOptions(
      command.description('Show the progress of an operation.').argument('<operationId>', 'ID of the operation'),
    )
      .option('--json', 'print the operation as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read or jobs:manage')),
  parse: (line: CommandLine<ServiceFlags>) => idIn(line, 'reading an operation', 'jobs:read'),
  async run({ service, id, isJson }, { out }) {
    const operation = await call<Operation>(service, { path: operationPath(id) });
    if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
    return done(out, [isJson ? jsonLine(operation) : printable(countsOf(operation))]);
  },
});

/** `yardmaster operations cancel`: stops an operation. */
const cancelOperationCommand = defineCommand({
  name: 'operations cancel',
  example: 'operations cancel $OPERATION',
  define: (command) =>
    withServiceOptions(
      command
        .description('Stop an operation. Jobs that it has already changed stay changed.')
        .argument('<operationId>', 'ID of the operation'),
    ).addHelpText('after', keyHelp('jobs:manage')),
  parse: (line: CommandLine<ServiceFlags>) => idIn(line, 'canceling an operation', 'jobs:manage'),
  async run({ service, id }, { out }) {
    await call(service, { method: 'DELETE', path: operationPath(id) });
    return done(out, [`canceled ${printable(id)}`]);
  },
});

/** Commands that change many jobs, in the order of the help. */
export const operationCommands = [
  startOperationCommand,
  listOperationsCommand,
  getOperationCommand,
  cancelOperationCommand,
];
