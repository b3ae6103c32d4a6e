import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { OPERATION_ACTIONS, type Operation, type OperationAction, STATUSES } from '@yardmaster/protocol';
import { Argument } from 'commander';
import type { CliCommand } from '../command.js';
import { CALL_EXIT, exitCodesHelp, type Outcome } from '../exit-codes.js';
import { countBetween, repeated, secondsOf } from '../flag-values.js';
import { expectKey, type SpaceFlags, serviceOf, spaceOf, withSpaceOption } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';
import { countsOf, operationPath } from './operation.js';

interface Flags extends SpaceFlags {
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
  json?: boolean;
}

/** Parsed command line of `operations start`. */
export interface StartRequest {
  service: Service;
  spaceId: string;
  body: Record<string, unknown>;
  mustWait: boolean;
  isJson: boolean;
}

/** Time between two reads of an operation that a command waits for. */
const READ_EVERY_MS = 500;

/** `yardmaster operations start`: changes all jobs of a space that match. */
export const startOperationCommand: CliCommand<StartRequest, Flags> = {
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
        .option('--limit <count>', 'change at most so many jobs', countBetween(1, Number.MAX_SAFE_INTEGER))
        .option('--delay <seconds>', 'make the jobs claimable only after this time', secondsOf)
        .option('--reason <text>', 'reason, for the history of killed jobs')
        .option('--dry-run', 'change nothing, and count the jobs that would be changed'),
    )
      .option('--wait', 'wait for the end of the operation, and print its counts')
      .option('--json', 'print the operation as one line of JSON')
      .addHelpText('after', `\nNeeds a key with jobs:manage; kill also jobs:kill.\n${exitCodesHelp(CALL_EXIT)}`),
  parse([action = ''], flags, env) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    expectKey(service, 'changing jobs', 'jobs:manage');
    const { limit, reason, delay: delaySeconds, wait: mustWait = false, json: isJson = false } = flags;
    const { status, name: names, tag: tags, id: ids, createdAfter, createdBefore, query: q } = flags;
    const filter = { status, names, tags, ids, createdAfter, createdBefore, q };
    const body = { action: action as OperationAction, filter, limit, dryRun: flags.dryRun, reason, delaySeconds };
    return { service, spaceId, body, mustWait, isJson };
  },
  async run({ service, spaceId, body, mustWait, isJson }, { out }): Promise<Outcome> {
    const headers = { 'idempotency-key': randomUUID() }; // With a key, the call can be sent again.
    const path = spacePath(spaceId, 'operations');
    let operation = await callJson<Operation>(service, { method: 'POST', path, body, headers });
    if (typeof operation?.id !== 'string') throw new Refused('the response is not an operation');
    while (mustWait && operation.status === 'running') {
      await delay(READ_EVERY_MS);
      operation = await callJson<Operation>(service, { path: operationPath(operation.id) });
    }
    const line = mustWait ? countsOf(operation) : operation.id;
    out.write(`${isJson ? printableJson(JSON.stringify(operation)) : printable(line)}\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};
