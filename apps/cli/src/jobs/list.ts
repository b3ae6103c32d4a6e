import { LIMITS, type ListedJob, STATUSES, type Status } from '@yardmaster/protocol';
import { Option } from 'commander';
import type { CliCommand, Io } from '../command.js';
import { CALL_EXIT, exitCodesHelp, type Outcome } from '../exit-codes.js';
import { countBetween, countOf } from '../flag-values.js';
import { expectKey, type SpaceFlags, serviceOf, spaceOf, withSpaceOption } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printableJson } from '../terminal/printable.js';
import { tableOf } from '../terminal/table.js';

interface Flags extends SpaceFlags {
  status?: Status;
  name?: string;
  limit?: number;
  offset?: number;
  json?: boolean;
}

/** Parsed command line of `jobs`. */
export interface ListRequest {
  service: Service;
  spaceId: string;
  status: Status | null;
  name: string | null;
  limit: number;
  offset: number;
  isJson: boolean;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** `yardmaster jobs`: lists the jobs of a space. */
export const listCommand: CliCommand<ListRequest, Flags> = {
  name: 'jobs',
  define: (command) =>
    withSpaceOption(
      command
        .description('List the jobs of a space, newest first.')
        .addOption(new Option('--status <status>', 'only jobs with this status').choices(STATUSES))
        .option('--name <name>', `only jobs of this name, among the newest ${MAX_LIMIT}`)
        .option('--limit <count>', `list at most so many (default: ${DEFAULT_LIMIT})`, countBetween(1, MAX_LIMIT))
        .option('--offset <count>', 'skip so many of the newest', countOf),
    )
      .option('--json', 'print each job as one line of JSON, as the service sent it')
      .addHelpText('after', `\nNeeds a key with jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    expectKey(service, 'listing jobs', 'jobs:read');
    const { status = null, name = null, limit = DEFAULT_LIMIT, offset = 0, json: isJson = false } = flags;
    return { service, spaceId, status, name, limit, offset, isJson };
  },
  async run(request, { out, err }: Io): Promise<Outcome> {
    const { jobs, isCut } = await find(request);
    const lines = request.isJson ? jobs.map((job) => printableJson(JSON.stringify(job))) : tableOf(COLUMNS, jobs, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    if (isCut) err.write(`only the newest ${MAX_LIMIT} jobs were searched for the name\n`);
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

const COLUMNS = [
  { title: 'ID', of: ({ id }: ListedJob) => id },
  { title: 'STATUS', of: ({ status }: ListedJob) => status },
  { title: 'NAME', of: ({ name }: ListedJob) => name },
  { title: 'ATTEMPTS', of: ({ attemptNumber }: ListedJob) => String(attemptNumber), isNumber: true },
  { title: 'CREATED', of: ({ createdAt }: ListedJob) => createdAt },
];

/** Read pages until there are enough jobs. The API has no filter by name, so they are chosen here. */
async function find({ service, spaceId, status, name, limit, offset }: ListRequest) {
  // Jobs that are created meanwhile shift the pages, so that a job may come twice.
  const found = new Map<string, ListedJob>();
  const size = name === null ? Math.min(limit, LIMITS.listMax) : LIMITS.listMax;
  for (let at = offset; at < offset + MAX_LIMIT; at += size) {
    const path = spacePath(spaceId, 'jobs', { status, limit: size, offset: at });
    const page = await callJson<ListedJob[]>(service, { path });
    if (!Array.isArray(page)) throw new Refused('the response is not a list of jobs');
    for (const job of page) if (name === null || job.name === name) found.set(job.id, job);
    const isEnd = page.length < size;
    if (isEnd || found.size >= limit) return { jobs: [...found.values()].slice(0, limit), isCut: false };
  }
  return { jobs: [...found.values()], isCut: name !== null };
}
