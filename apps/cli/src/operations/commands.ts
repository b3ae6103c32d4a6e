import type { Operation } from '@yardmaster/protocol';
import { type CliCommand, type Env, UsageError } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import {
  expectKey,
  type ServiceFlags,
  type SpaceFlags,
  serviceOf,
  spaceOf,
  withServiceOptions,
  withSpaceOption,
} from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { countsOf, operationPath } from './operation.js';

const JSON_FLAG = ['--json', 'print it as lines of JSON, as the service sent it'] as const;

interface ListFlags extends SpaceFlags {
  json?: boolean;
}

/** Parsed command line of `operations list`. */
export interface ListOperationsRequest {
  service: Service;
  spaceId: string;
  isJson: boolean;
}

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
export const listOperationsCommand: CliCommand<ListOperationsRequest, ListFlags> = {
  name: 'operations list',
  define: (command) =>
    withSpaceOption(command.description('List the operations of a space, newest first.'))
      .option(...JSON_FLAG)
      .addHelpText('after', `\nNeeds a key with jobs:manage or jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    expectKey(service, 'listing operations', 'jobs:read');
    return { service, spaceId, isJson: flags.json ?? false };
  },
  async run({ service, spaceId, isJson }, { out }) {
    const path = spacePath(spaceId, 'operations');
    const { operations } = await callJson<{ operations: Operation[] }>(service, { path });
    if (!Array.isArray(operations)) throw new Refused('the response is not a list of operations');
    const lines = isJson
      ? operations.map((one) => printableJson(JSON.stringify(one)))
      : tableOf(COLUMNS, operations, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

/** Parsed command line of `operations cancel`. */
export interface OperationRef {
  service: Service;
  operationId: string;
}

/** Parsed command line of `operations get`. */
export interface GetOperationRequest extends OperationRef {
  isJson: boolean;
}

function operationIn(operationId: string, flags: ServiceFlags, env: Env): OperationRef {
  const service = serviceOf(flags, env);
  if (operationId === '') throw new UsageError('the id is empty');
  expectKey(service, 'an operation', 'jobs:manage');
  return { service, operationId };
}

/** `yardmaster operations get`: shows how far an operation is. */
export const getOperationCommand: CliCommand<GetOperationRequest, ServiceFlags & { json?: boolean }> = {
  name: 'operations get',
  define: (command) =>
    withServiceOptions(command.description('Show how far an operation is.').argument('<operationId>', 'the operation'))
      .option(...JSON_FLAG)
      .addHelpText('after', `\nNeeds a key with jobs:manage or jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse: ([operationId = ''], flags, env) => ({
    ...operationIn(operationId, flags, env),
    isJson: flags.json ?? false,
  }),
  async run({ service, operationId, isJson }, { out }) {
    const operation = await callJson<Operation>(service, { path: operationPath(operationId) });
    if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
    out.write(`${isJson ? printableJson(JSON.stringify(operation)) : printable(countsOf(operation))}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

/** `yardmaster operations cancel`: stops an operation. */
export const cancelOperationCommand: CliCommand<OperationRef, ServiceFlags> = {
  name: 'operations cancel',
  define: (command) =>
    withServiceOptions(
      command
        .description('Stop an operation. What it has changed stays changed.')
        .argument('<operationId>', 'the operation'),
    ).addHelpText('after', `\nNeeds a key with jobs:manage.\n${exitCodesHelp(CALL_EXIT)}`),
  parse: ([operationId = ''], flags, env) => operationIn(operationId, flags, env),
  async run({ service, operationId }, { out }) {
    await callJson(service, { method: 'DELETE', path: operationPath(operationId) });
    out.write(`cancelled ${printable(operationId)}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};
