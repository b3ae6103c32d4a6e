import type { NameHistory, SpaceHistory } from '@yardmaster/protocol';
import { callJson, Refused } from '../service/call.js';
import { type Service, spacePath } from '../service/service.js';
import { printableJson } from '../terminal/printable.js';
import type { Terminal } from '../terminal/region.js';
import { type Column, tableOf } from '../terminal/table.js';

/** What `stats --history` shows. */
export interface HistoryRequest {
  step: 'minutes' | 'hours';
  /** ISO 8601; null for the defaults of the service. */
  from: string | null;
  to: string | null;
}

/** Read the history of a space, and return it as lines: one of JSON, or a table. */
export async function historyLines(
  service: Service,
  { spaceId, names, isJson, history }: { spaceId: string; names: string[]; isJson: boolean; history: HistoryRequest },
  out: Terminal,
): Promise<string[]> {
  const { from, to, step } = history;
  const path = spacePath(spaceId, 'stats/history', { from, to, step: step === 'hours' ? 3_600 : 60 });
  const read = await callJson<SpaceHistory>(service, { path });
  if (!Array.isArray(read?.points)) throw new Refused('the response does not contain a history');
  if (isJson) return [printableJson(JSON.stringify(read))];
  const rows = read.points.flatMap(({ at, names: counts }) =>
    Object.entries(counts)
      .filter(([name]) => names.length === 0 || names.includes(name))
      .map(([name, its]): Row => ({ at, name, ...its })),
  );
  return tableOf(COLUMNS, rows, out);
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

/** Waits and runs are means. `--json` has their buckets. */
const COLUMNS: Column<Row>[] = [
  { title: 'FROM', of: ({ at }) => `${at.slice(0, 16)}Z` },
  { title: 'NAME', of: ({ name }) => name },
  countColumn('CREATED', ({ created }) => created),
  countColumn('COMPLETED', ({ completed }) => completed),
  countColumn('RETRIED', ({ retried }) => retried),
  countColumn('DEAD', ({ dead }) => dead),
  countColumn('KILLED', ({ killed }) => killed),
  countColumn('TIME-OUTS', ({ deliveryTimeouts, runTimeouts }) => deliveryTimeouts + runTimeouts),
  meanColumn('WAIT', ({ waitSeconds }) => waitSeconds),
  meanColumn('RUN', ({ runSeconds }) => runSeconds),
];
