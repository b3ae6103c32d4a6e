import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from '../support/installed.js';

/** Figures every 30 s, by series, in promtool's notation. */
export type Series = Record<string, string>;

/** For an hour: a figure that stays, or one that grows by so much each time. */
export const stays = (value: number) => `${value}+0x120`;
export const grows = (by: number) => `0+${by}x120`;

export interface Expectation {
  query: string;
  /** What it gives near the end of the hour: figures by their labels, as promtool writes these. */
  gives: Record<string, number>;
}

export interface Verdict {
  /** 0 when all is as expected. */
  status: number | null;
  said: string;
}

export const FOUND: Verdict = { status: 0, said: '' };

const promtool = installed('promtool', 'prometheus');

/** Run promtool on files that are there only for it. Files are JSON, which is YAML. */
export function runPromtool(args: string[], files: Record<string, unknown>): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'yardmaster-promtool-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
    const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: folder, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Let promtool run rules over an hour of these series, and ask what is expected near its end. */
export function afterAnHour(series: Series, expected: Expectation[], groups: unknown[] = []): Verdict {
  const test = {
    rule_files: ['rules.json'],
    evaluation_interval: '30s',
    tests: [
      {
        interval: '30s',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: expected.map(({ query, gives }) => ({
          expr: query,
          eval_time: '58m',
          exp_samples: Object.entries(gives).map(([labels, value]) => ({ labels, value })),
        })),
      },
    ],
  };
  const { status, said } = runPromtool(['test', 'rules', 'test.json'], { 'rules.json': { groups }, 'test.json': test });
  return { status, said: status === 0 ? '' : said };
}
