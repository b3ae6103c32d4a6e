import { LIMITS, type SpaceList } from '@yardmaster/protocol';
import type { CliCommand } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { countBetween } from '../flag-values.js';
import { expectKey, type ServiceFlags, serviceOf, withServiceOptions } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { queryOf, type Service } from '../service/service.js';
import { printableJson } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { ageOf } from './stats.js';

interface Flags extends ServiceFlags {
  limit?: number;
  json?: boolean;
}

/** Parsed command line of `spaces`. */
export interface SpacesRequest {
  service: Service;
  limit: number;
  isJson: boolean;
}

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 100_000;

/** `yardmaster spaces`: lists the spaces that have jobs. */
export const spacesCommand: CliCommand<SpacesRequest, Flags> = {
  name: 'spaces',
  define: (command) =>
    withServiceOptions(
      command
        .description('List the spaces that have jobs, and count their jobs.')
        .option(
          '--limit <count>',
          `maximum number of spaces to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        ),
    )
      .option('--json', 'print each space as one line of JSON, as the service sent it')
      .addHelpText('after', `\nNeeds a key with jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    expectKey(service, 'listing spaces', 'jobs:read');
    const { limit = DEFAULT_LIMIT, json: isJson = false } = flags;
    return { service, limit, isJson };
  },
  async run({ service, limit, isJson }, { out, err }) {
    const { spaces, isCut } = await read(service, limit);
    const lines = isJson ? spaces.map((space) => printableJson(JSON.stringify(space))) : tableOf(COLUMNS, spaces, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    if (isCut) err.write(`there are more than these ${spaces.length} spaces; --limit shows more\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

type Space = SpaceList['spaces'][number];

const COLUMNS: Column<Space>[] = [
  { title: 'SPACE', of: ({ spaceId }) => spaceId },
  { title: 'JOBS', of: ({ jobs }) => String(jobs.total), isNumber: true },
  { title: 'PENDING', of: ({ jobs }) => String(jobs.pending), isNumber: true },
  { title: 'RUNNING', of: ({ jobs }) => String(jobs.running), isNumber: true },
  { title: 'DEAD', of: ({ jobs }) => String(jobs.dead), isNumber: true },
  { title: 'OLDEST', of: ({ oldestPendingAgeSeconds }) => ageOf(oldestPendingAgeSeconds), isNumber: true },
];

/** Read pages until there are enough spaces. */
async function read(service: Service, limit: number): Promise<{ spaces: Space[]; isCut: boolean }> {
  const spaces: Space[] = [];
  let cursor: string | null = null;
  do {
    const size = Math.min(limit - spaces.length, LIMITS.spacesMax);
    const page: SpaceList = await callJson<SpaceList>(service, { path: `spaces${queryOf({ limit: size, cursor })}` });
    if (!Array.isArray(page?.spaces)) throw new Refused('the response is not a list of spaces');
    spaces.push(...page.spaces);
    cursor = page.nextCursor;
  } while (cursor !== null && spaces.length < limit);
  return { spaces, isCut: cursor !== null };
}
