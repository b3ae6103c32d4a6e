import { LIMITS, type ListedJob, STATUSES, type Status } from '@yardmaster/protocol';
import { Option } from 'commander';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { DONE, done, keyHelp } from '../exit-codes.js';
import { countBetween, countOf, repeated } from '../flag-values.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { callPage, Refused } from '../service/call.js';
import { type Query, type Service, spacePath } from '../service/service.js';
import { jsonLine } from '../terminal/printable.js';
import { writeLines } from '../terminal/region.js';
import { tableOf } from '../terminal/table.js';

interface Flags extends SpaceFlags {
  status?: Status[];
  name?: string[];
  tag?: string[];
  query?: string;
  after?: string;
  before?: string;
  order?: 'asc' | 'desc';
  limit?: number;
  all?: boolean;
  offset?: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** `yardmaster jobs`: lists the jobs of a space. */
export const listCommand = defineCommand({
  name: 'jobs',
  define: (command) =>
    withSpaceOption(
      command
        .description('List the jobs of a space, newest first.')
        .addOption(new Option('--status <status...>', 'only jobs with this status; may be repeated').choices(STATUSES))
        .option('--name <name>', 'only jobs of this name; may be repeated', repeated)
        .option('--tag <tag>', 'only jobs with this tag; repeated: with all of them', repeated)
        .option('--query <text>', 'only jobs whose payload, result or error contains this text')
        .option('--after <time>', 'only jobs created at this time or later, ISO 8601 with a time zone')
        .option('--before <time>', 'only jobs created before this time')
        .addOption(new Option('--order <order>', 'by creation (default: desc)').choices(['asc', 'desc']))
        .option(
          '--limit <count>',
          `maximum number of jobs to list (default: ${DEFAULT_LIMIT})`,
          countBetween(1, MAX_LIMIT),
        )
        .option('--all', 'list all of them')
        .option('--offset <count>', 'number of newest jobs to skip', countOf),
    )
      .option('--json', 'print each job as one line of JSON, as the service sent it')
      .addHelpText('after', keyHelp('jobs:read')),
  parse(line: CommandLine<Flags>) {
    const { flags } = line;
    const target = spaceIn(line, 'listing jobs', 'jobs:read');
    const { status, name, tag, query: q, after: createdAfter, before: createdBefore, order } = flags;
    if (flags.all && flags.limit !== undefined) throw new UsageError('--all and --limit exclude each other');
    const limit = flags.all ? Number.POSITIVE_INFINITY : (flags.limit ?? DEFAULT_LIMIT);
    const query = { status, name, tag, q, createdAfter, createdBefore, order };
    return { ...target, query, limit, offset: flags.offset ?? 0 };
  },
  async run(request, { out, waitForDrain }) {
    const jobs: ListedJob[] = [];
    for await (const page of pagesOf(request)) {
      if (request.isJson) {
        writeLines(out, page.map(jsonLine));
        await waitForDrain();
      } else jobs.push(...page);
    }
    return request.isJson ? DONE : done(out, tableOf(COLUMNS, jobs, out));
  },
});

const COLUMNS = [
  { title: 'ID', of: ({ id }: ListedJob) => id },
  { title: 'STATUS', of: ({ status }: ListedJob) => status },
  { title: 'NAME', of: ({ name }: ListedJob) => name },
  { title: 'ATTEMPTS', of: ({ attemptNumber }: ListedJob) => String(attemptNumber), isNumber: true },
  { title: 'CREATED', of: ({ createdAt }: ListedJob) => createdAt },
];

/** Options that have another name than the parameters that they set. */
const OPTIONS = { createdAfter: '--after', createdBefore: '--before', q: '--query' };

/** Throw an error again; a refusal of a parameter names its option. */
function nameOption(error: unknown): never {
  if (!(error instanceof Refused)) throw error;
  const sentence = error.message.replace(/^(createdAfter|createdBefore|q)(?= )/, (name) => OPTIONS[name as 'q']);
  throw new Refused(sentence, error);
}

interface Listing {
  service: Service;
  spaceId: string;
  /** Parameters of the query of every page. */
  query: Query;
  /** Jobs to list at most; Infinity for all. */
  limit: number;
  offset: number;
}

/** Read pages until there are enough jobs. A page may be short or empty, and still have a next one. */
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
