import type { ListedJob } from '@yardmaster/protocol';
import { errorLine } from '@yardmaster/sdk/internal/error-text';
import { ageOf, jsonLine } from '../terminal/printable.js';
import type { Terminal } from '../terminal/region.js';
import { type Column, csvOf, tableOf } from '../terminal/table.js';
import { progressTextOf } from '../watch/display.js';

/** Formats pages of jobs as batches of lines. */
type ListFormat = (pages: AsyncIterable<ListedJob[]>, out: Terminal) => AsyncIterable<string[]>;

const COLUMNS: Column<ListedJob>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'AGE', of: ({ createdAt }) => ageOf((Date.now() - Date.parse(createdAt)) / 1_000), isNumber: true },
  { title: 'ATTEMPT', of: ({ attemptNumber, maxRetries }) => `${attemptNumber}/${maxRetries + 1}`, isNumber: true },
  { title: 'WORKER', of: ({ workerId = '' }) => workerId },
];

const WIDE_COLUMNS: Column<ListedJob>[] = [
  ...COLUMNS,
  { title: 'PROGRESS', of: ({ progress }) => progressTextOf(progress) },
  { title: 'PRIORITY', of: ({ priority = '' }) => String(priority), isNumber: true },
  { title: 'TAGS', of: ({ tags = [] }) => tags.join(',') },
  { title: 'CREATED', of: ({ createdAt }) => createdAt },
];

/** The last column, because a terminal cuts it to fit. */
const ERROR: Column<ListedJob> = { title: 'ERROR', of: ({ error }) => (error === undefined ? '' : errorLine(error)) };

/** Formats of `--output`, and the default table. */
export const LIST_FORMATS = {
  table: asTable([...COLUMNS, ERROR]),
  wide: asTable([...WIDE_COLUMNS, ERROR]),
  json: byPage((jobs) => jobs.map(jsonLine)),
  yaml: byPage(async (jobs) => {
    const { yamlDocument } = await import('../terminal/yaml.js'); // Loaded on demand, so that other formats start faster.
    return jobs.map(yamlDocument);
  }),
  csv: asCsv([...WIDE_COLUMNS, ERROR]),
};

/** Return a table format. Column widths depend on all jobs, so it prints once; without jobs, it prints nothing. */
function asTable(columns: Column<ListedJob>[]): ListFormat {
  return async function* (pages, out) {
    const jobs: ListedJob[] = [];
    for await (const page of pages) jobs.push(...page);
    if (jobs.length > 0) yield tableOf(columns, jobs, out);
  };
}

function byPage(linesOf: (jobs: ListedJob[]) => string[] | Promise<string[]>): ListFormat {
  return async function* (pages) {
    for await (const page of pages) yield await linesOf(page);
  };
}

function asCsv(columns: Column<ListedJob>[]): ListFormat {
  return async function* (pages) {
    let header = [columns.map(({ title }) => title).join(',')];
    for await (const page of pages) {
      yield [...header, ...csvOf(columns, page)];
      header = [];
    }
  };
}
