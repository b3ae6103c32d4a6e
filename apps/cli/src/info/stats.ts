import type { SpaceStats } from '@yardmaster/protocol';
import type { CliCommand } from '../command.js';
import { CALL_EXIT, exitCodesHelp } from '../exit-codes.js';
import { countBetween, repeated } from '../flag-values.js';
import { expectKey, type SpaceFlags, serviceOf, spaceOf, withSpaceOption } from '../flags.js';
import { callJson, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printable, printableJson } from '../terminal/printable.js';
import type { Terminal } from '../terminal/region.js';
import { type Column, tableOf } from '../terminal/table.js';

interface Flags extends SpaceFlags {
  name?: string[];
  limit?: number;
  json?: boolean;
}

/** Parsed command line of `stats`. */
export interface StatsRequest {
  service: Service;
  spaceId: string;
  /** Empty for the names with most jobs. */
  names: string[];
  limit: number | null;
  isJson: boolean;
}

/** `yardmaster stats`: counts the jobs of a space by status and by name. */
export const statsCommand: CliCommand<StatsRequest, Flags> = {
  name: 'stats',
  define: (command) =>
    withSpaceOption(
      command
        .description('Count the jobs of a space by status and by name.')
        .option('--name <name>', 'only this name; may be repeated', repeated)
        .option('--limit <count>', 'show so many names (default: 100)', countBetween(1, 1_000)),
    )
      .option('--json', 'print the statistics as one line of JSON, as the service sent them')
      .addHelpText('after', `\nNeeds a key with jobs:read.\n${exitCodesHelp(CALL_EXIT)}`),
  parse(_args, flags, env) {
    const service = serviceOf(flags, env);
    const spaceId = spaceOf(flags, env);
    expectKey(service, 'counting jobs', 'jobs:read');
    const { name: names = [], limit = null, json: isJson = false } = flags;
    return { service, spaceId, names, limit, isJson };
  },
  async run({ service, spaceId, names, limit, isJson }, { out }) {
    const path = spacePath(spaceId, 'stats', { limit, name: names });
    const stats = await callJson<SpaceStats>(service, { path });
    if (!Array.isArray(stats?.names)) throw new Refused('the response does not contain statistics');
    const lines = isJson ? [printableJson(JSON.stringify(stats))] : linesOf(stats, out);
    out.write(lines.map((line) => `${line}\n`).join(''));
    return { exit: CALL_EXIT.done, sentence: null };
  },
};

type NameStats = SpaceStats['names'][number];

const COLUMNS: Column<NameStats>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'JOBS', of: ({ total }) => String(total), isNumber: true },
  { title: 'PENDING', of: ({ pending }) => String(pending), isNumber: true },
  { title: 'OLDEST', of: ({ oldestPendingAgeSeconds }) => ageOf(oldestPendingAgeSeconds), isNumber: true },
];

function linesOf(stats: SpaceStats, out: Terminal): string[] {
  const { jobs, oldestPendingAgeSeconds, paused, names, namesLeftOut } = stats;
  const counts = Object.entries(jobs).map(([status, count]) => printable(`${status} ${count}`));
  const oldest = oldestPendingAgeSeconds === null ? [] : [`oldest pending for ${ageOf(oldestPendingAgeSeconds)}`];
  const table = names.length > 0 ? ['', ...tableOf(COLUMNS, names, out)] : [];
  const more = namesLeftOut > 0 ? [`${namesLeftOut} more names`] : [];
  const pause =
    paused === undefined
      ? []
      : [`paused: ${paused === true ? 'the whole space' : printable([paused].flat().join(', '))}`];
  return [[...counts, ...oldest].join(', '), ...pause, ...table, ...more];
}

const ageOf = (seconds: number | null) => (seconds === null ? '-' : `${Math.floor(seconds)} s`);
