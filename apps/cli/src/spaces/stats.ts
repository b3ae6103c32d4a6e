import type { NameHistory, SpaceHistory, SpaceStats } from '@yardmaster/protocol';
import { Option } from 'commander';
import { type CommandLine, defineCommand, UsageError } from '../command.js';
import { done, keyHelp } from '../exit-codes.js';
import { countBetween, PAST_MOMENT, pastMomentOf, repeated } from '../flag-values.js';
import { type SpaceFlags, spaceIn, withSpaceOption } from '../flags.js';
import { call, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { ageOf, jsonLine, printable } from '../terminal/printable.js';
import type { Terminal } from '../terminal/region.js';
import { type Column, tableOf } from '../terminal/table.js';

interface Flags extends SpaceFlags {
  name?: string[];
  limit?: number;
  history?: HistoryRequest['step'];
  from?: string;
  to?: string;
}

/** Parsed command line of `stats`. */
interface StatsRequest {
  service: Service;
  spaceId: string;
  /** Names to show; empty for those with the most jobs. */
  names: string[];
  limit: number | null;
  /** Null for the current counts. */
  history: HistoryRequest | null;
  isJson: boolean;
}

/** `yardmaster stats`: counts the jobs of a space, or shows its history. */
export const statsCommand = defineCommand({
  name: 'stats',
  example: 'stats --space demo --history hours --from 1d',
  define: (command) =>
    withSpaceOption(
      command
        .description('Count the jobs of a space by status and name, or show its history.')
        .option('--name <name>', 'only jobs with this name; repeatable', repeated)
        .option('--limit <count>', 'maximum number of names to show (default: 100)', countBetween(1, 1_000))
        .addOption(
          new Option('--history <step>', 'show what happened over time instead, by minute or hour').choices([
            'minutes',
            'hours',
          ]),
        )
        .option(
          '--from <time>',
          `start of the history: ${PAST_MOMENT} (default: 1h before its end for minutes, 1d for hours)`,
          pastMomentOf,
        )
        .option('--to <time>', 'end of the history (default: now)', pastMomentOf),
    )
      .option('--json', 'print the result as one line of JSON')
      .addHelpText('after', keyHelp('jobs:read')),
  parse(line: CommandLine<Flags>): StatsRequest {
    const { flags } = line;
    const target = spaceIn(line, 'counting jobs', 'jobs:read');
    const { name: names = [], limit = null, history: step, from = null, to = null } = flags;
    if (step === undefined && (from !== null || to !== null)) throw new UsageError('--from and --to require --history');
    if (step !== undefined && limit !== null) throw new UsageError('--limit and --history cannot be combined');
    const history = step === undefined ? null : { step, from, to };
    return { ...target, names, limit, history };
  },
  async run(request, { out }) {
    const { history } = request;
    return done(out, await (history === null ? statsLines(request, out) : historyLines(request, history, out)));
  },
});

async function statsLines(request: StatsRequest, out: Terminal): Promise<string[]> {
  const { service, spaceId, names, limit, isJson } = request;
  const path = spacePath(spaceId, 'stats', { limit, name: names });
  const stats = await call<SpaceStats>(service, { path });
  if (!Array.isArray(stats?.names)) throw new Refused('the response does not contain statistics');
  return isJson ? [jsonLine(stats)] : linesOf(stats, out);
}

type NameStats = SpaceStats['names'][number];

const COLUMNS: Column<NameStats>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'JOBS', of: ({ total }) => String(total), isNumber: true },
  { title: 'PENDING', of: ({ pending }) => String(pending), isNumber: true },
  { title: 'OLDEST', of: ({ oldestPendingAgeSeconds }) => oldestOf(oldestPendingAgeSeconds), isNumber: true },
];

function linesOf(stats: SpaceStats, out: Terminal): string[] {
  const { jobs, oldestPendingAgeSeconds, paused, names, namesLeftOut } = stats;
  const counts = Object.entries(jobs).map(([status, count]) => printable(`${status} ${count}`));
  const oldest = oldestPendingAgeSeconds === null ? [] : [`oldest pending for ${ageOf(oldestPendingAgeSeconds)}`];
  const table = names.length > 0 ? ['', ...tableOf(COLUMNS, names, out)] : [];
  const more = namesLeftOut > 0 ? [`and ${namesLeftOut} more names`] : [];
  const pause =
    paused === undefined
      ? []
      : [`paused: ${paused === true ? 'the whole space' : printable([paused].flat().join(', '))}`];
  return [[...counts, ...oldest].join(', '), ...pause, ...table, ...more];
}

/** Format the age of the oldest pending job; empty without any. */
export const oldestOf = (seconds: number | null) => (seconds === null ? '' : ageOf(seconds));

/** Step and time range of `stats --history`. */
interface HistoryRequest {
  step: 'minutes' | 'hours';
  /** ISO 8601; null for the service's default. */
  from: string | null;
  to: string | null;
}

/** Read the history of a space, and format it as a table or as one line of JSON. */
async function historyLines(
  { service, spaceId, names, isJson }: StatsRequest,
  { from, to, step }: HistoryRequest,
  out: Terminal,
): Promise<string[]> {
  const path = spacePath(spaceId, 'stats/history', { from, to, step: step === 'hours' ? 3_600 : 60 });
  const read = await call<SpaceHistory>(service, { path });
  if (!Array.isArray(read?.points)) throw new Refused('the response does not contain a history');
  if (isJson) return [jsonLine(read)];
  const rows = read.points.flatMap(({ at, names: counts }) =>
    Object.entries(counts)
      .filter(([name]) => names.length === 0 || names.includes(name))
      .map(([name, its]): Row => ({ at, name, ...its })),
  );
  return tableOf(HISTORY_COLUMNS, rows, out);
}

type Row = NameHistory & { at: string; name: string };

const countColumn = (title: string, of: (row: Row) => number): Column<Row> => ({
  title,
  of: (row) => String(of(row)),
  isNumber: true,
});

const meanColumn = (title: string, of: (row: Row) => NameHistory['waitSeconds']): Column<Row> => ({
  title,
  of: (row) => (of(row).count === 0 ? '-' : `${(of(row).sum / of(row).count).toFixed(2)} s`),
  isNumber: true,
});

/** Columns of the history. Wait and run times are means; `--json` has the full histograms. */
const HISTORY_COLUMNS: Column<Row>[] = [
  { title: 'FROM', of: ({ at }) => `${at.slice(0, 16)}Z` },
  { title: 'NAME', of: ({ name }) => name },
  countColumn('CREATED', ({ created }) => created),
  countColumn('COMPLETED', ({ completed }) => completed),
  countColumn('RETRIED', ({ retried }) => retried),
  countColumn('DEAD', ({ dead }) => dead),
  countColumn('KILLED', ({ killed }) => killed),
  countColumn('TIMEOUTS', ({ deliveryTimeouts, runTimeouts }) => deliveryTimeouts + runTimeouts),
  meanColumn('WAIT', ({ waitSeconds }) => waitSeconds),
  meanColumn('RUN', ({ runSeconds }) => runSeconds),
];
