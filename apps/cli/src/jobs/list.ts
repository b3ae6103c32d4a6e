import { LIMITS, type ListedJob, STATUSES, type Status } from '@yardmaster/protocol';
import { Option } from 'commander';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { DONE, keyHelp } from '../exit-codes.js';
import { countBetween, countOf, PAST_MOMENT, pastMomentOf, repeated } from '../flag-values.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { callPage, Refused } from '../service/call.js';
import { type Query, type Service, spacePath } from '../service/service.js';
import { writeLines } from '../terminal/region.js';
import { LIST_FORMATS } from './list-formats.js';

interface Flags extends SpaceFlags {
  status?: Status[];
  name?: string[];
  tag?: string[];
  schedule?: string;
  query?: string;
  after?: string;
  before?: string;
  order?: 'asc' | 'desc';
  limit?: number;
  all?: boolean;
  offset?: number;
  output?: keyof typeof LIST_FORMATS;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** `yardmaster jobs`: lists the jobs of a space. */
export const listCommand = defineCommand({
  name: 'jobs',
  example: 'jobs --space demo --status dead --after 2h',
  define: (command) =>
    withSpaceOption(
      command
        .description('List the jobs of a space, newest first.')
        .addOption(new Option('--status <status...>', 'only jobs with this status; repeatable').choices(STATUSES))
        .option('--name <name>', 'only jobs with this name; repeatable', repeated)
        .option('--tag <tag>', 'only jobs with this tag; if repeated, with all of the tags', repeated)
        .option('--schedule <id>', 'only jobs created by this schedule')
        .option('--query <text>', 'only jobs whose payload, result or error contains this text')
        .option('--after <time>', `only jobs created at or after this time: ${PAST_MOMENT}`, pastMomentOf)
        .option('--before <time>', 'only jobs created before this time', pastMomentOf)
        .addOption(new Option('--order <order>', 'order by creation time (default: desc)').choices(['asc', 'desc']))
        .option(
          '--limit <count>',
          `maximum number of jobs to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        )
        .option('--all', 'list all matching jobs')
        .option('--offset <count>', 'number of newest jobs to skip; requires a single --status', countOf),
    )
      .addOption(
        new Option('-o, --output <format>', 'print a table with more columns (wide), or a machine format').choices(
          OUTPUTS,
        ),
      )
      .option('--json', 'print each job as one line of JSON, like -o json')
      .addHelpText('after', keyHelp('jobs:read')),
  parse(line: CommandLine<Flags>) {
    const { flags } = line;
    const { isJson, ...target } = spaceIn(line, 'listing jobs', 'jobs:read');
    if (isJson && flags.output !== undefined) throw new UsageError('--json and --output cannot be combined');
    const { status, name, tag, schedule, query: q, after: createdAfter, before: createdBefore, order } = flags;
    if (flags.all && flags.limit !== undefined) throw new UsageError('--all and --limit cannot be combined');
    const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? DEFAULT_LIMIT);
    const query = { status, name, tag, schedule, q, createdAfter, createdBefore, order };
    const output = isJson ? 'json' : (flags.output ?? 'table');
    return { ...target, query, limit, offset: flags.offset ?? 0, output };
  },
  async run({ output, ...listing }, { out, err, waitForDrain }) {
    let count = 0;
    async function* countedPages() {
      for await (const page of pagesOf(listing)) {
        count += page.length;
        yield page;
      }
    }
    for await (const lines of LIST_FORMATS[output](countedPages(), out)) {
      writeLines(out, lines);
      await waitForDrain();
    }
    if (count === 0) err.write('no jobs found\n');
    return DONE;
  },
});

const OUTPUTS = Object.keys(LIST_FORMATS).filter((format) => format !== 'table');

/** Rethrow an error, with the option name in a refusal of the parameter `q`. */
function nameOption(error: unknown): never {
  if (!(error instanceof Refused)) throw error;
  throw new Refused(error.message.replace(/^q(?= )/, '--query'), error);
}

interface Listing {
  service: Service;
  spaceId: string;
  /** Query parameters of every page. */
  query: Query;
  /** Maximum number of jobs to list; Infinity for all. */
  limit: number;
  offset: number;
}

/** Read pages up to the limit. Even a short or empty page can have a next one. */
async function* pagesOf({ service, spaceId, query, limit, offset }: Listing): AsyncGenerator<ListedJob[]> {
  let left = limit;
  for (let cursor: string | null = null; left > 0; ) {
    const from: Query = cursor === null ? { offset: offset || null } : { cursor };
    const path = spacePath(spaceId, 'jobs', { ...query, limit: Math.min(left, LIMITS.listMax), ...from });
    const { items: page, nextCursor } = await callPage<ListedJob>(service, { path }).catch(nameOption);
    if (!Array.isArray(page)) throw new Refused('the response is not a list of jobs');
    yield page;
    left -= page.length;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}
