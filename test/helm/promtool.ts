import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from '../support/installed.js';

/** Values every 30 s, by series, in the notation of promtool. */
export type Series = Record<string, string>;

/** Write an hour of a constant value, or of one that grows by this much every 30 s. */
export const stays = (value: number) => `${value}+0x120`;
export const grows = (by: number) => `0+${by}x120`;

export interface Expectation {
  query: string;
  /** Its samples near the end of the hour: values by labels, in the notation of promtool. */
  samples: Record<string, number>;
}

export interface PromtoolResult {
  /** 0 if all is as expected. */
  status: number | null;
  output: string;
}

export const AS_EXPECTED: PromtoolResult = { status: 0, output: '' };

const promtool = installed('promtool', 'prometheus');

/** Run promtool on temporary files. They are JSON, which is also YAML. */
export function runPromtool(args: string[], files: Record<string, unknown>): PromtoolResult {
  const folder = mkdtempSync(join(tmpdir(), 'yardmaster-promtool-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
    const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: folder, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Evaluate rules over an hour of these series with promtool, and check the expected samples near its end. */
export function afterAnHour(series: Series, expected: Expectation[], groups: unknown[] = []): PromtoolResult {
  const test = {
    rule_files: ['rules.json'],
    evaluation_interval: '30s',
    tests: [
      {
        interval: '30s',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: expected.map(({ query, samples }) => ({
          expr: query,
          eval_time: '58m',
          exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
        })),
      },
    ],
  };
  const { status, output } = runPromtool(['test', 'rules', 'test.json'], {
    'rules.json': { groups },
    'test.json': test,
  });
  return { status, output: status === 0 ? '' : output };
}
