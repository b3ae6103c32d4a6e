import { LIMITS, type SpaceList } from '@yardmaster/protocol';
import { type CommandLine, defineCommand } from '../command.js';
import { DONE, keyHelp } from '../exit-codes.js';
import { countBetween } from '../flag-values.js';
import { type ServiceFlags, serviceIn, withServiceOptions } from '../flags.js';
import { readRows } from '../service/call.js';
import { jsonLine } from '../terminal/printable.js';
import { writeLines } from '../terminal/region.js';
import { type Column, tableOf } from '../terminal/table.js';
import { oldestOf } from './stats.js';

interface Flags extends ServiceFlags {
  limit?: number;
}

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 100_000;

/** `yardmaster spaces`: lists the spaces that have jobs. */
export const spacesCommand = defineCommand({
  name: 'spaces',
  example: 'spaces --json',
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
      .option('--json', 'print each space as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read')),
  parse(line: CommandLine<Flags>) {
    const { limit = DEFAULT_LIMIT } = line.flags;
    return { ...serviceIn(line, 'listing spaces', 'jobs:read'), limit };
  },
  async run({ service, limit, isJson }, { out, err }) {
    const pages = { path: 'spaces', member: 'spaces', pageName: 'a list of spaces', pageMax: LIMITS.spacesMax };
    const { rows, isCut } = await readRows<Space>(service, { ...pages, limit });
    writeLines(out, isJson ? rows.map(jsonLine) : tableOf(COLUMNS, rows, out));
    if (isCut) err.write(`only the first ${rows.length} spaces are listed; use --limit to list more\n`);
    return DONE;
  },
});

type Space = SpaceList['spaces'][number];

const COLUMNS: Column<Space>[] = [
  { title: 'SPACE', of: ({ spaceId }) => spaceId },
  { title: 'JOBS', of: ({ jobs }) => String(jobs.total), isNumber: true },
  { title: 'PENDING', of: ({ jobs }) => String(jobs.pending), isNumber: true },
  { title: 'RUNNING', of: ({ jobs }) => String(jobs.running), isNumber: true },
  { title: 'DEAD', of: ({ jobs }) => String(jobs.dead), isNumber: true },
  { title: 'OLDEST', of: ({ oldestPendingAgeSeconds }) => oldestOf(oldestPendingAgeSeconds), isNumber: true },
];
