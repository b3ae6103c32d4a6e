// Build the packages of a release in .cache/release: npm/*.tgz (SDK and CLI), python/* (sdist and wheel) and chart/*.tgz.
// Requires Python with venv, and Go.
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { goCommand } from '../go-command.mjs';
import { python } from '../sdk/test.mjs';
import { root, run, setUp } from '../set-up.mjs';

const target = `${root}.cache/release`;
const [npm, wheels, charts] = ['npm', 'python', 'chart'].map((name) => join(target, name));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

setUp('apps/cli', 'sdk/typescript');
rmSync(target, { recursive: true, force: true });
mkdirSync(npm, { recursive: true });

run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', npm], { cwd: `${root}sdk/typescript` });
run(process.execPath, ['scripts/cli/pack.mjs', npm]);
rmSync(join(npm, 'package'), { recursive: true });

// Build the wheel from the sdist, to notice a file missing from the sdist.
run(`${python()}python`, ['-m', 'build', '--no-isolation', '--outdir', wheels], { cwd: `${root}sdk/python` });

run(goCommand('helm'), ['package', 'helm/yardmaster', '--destination', charts]);
// Rename the chart, because the npm package of the CLI has the same file name, and a GitHub release has both.
renameSync(join(charts, `yardmaster-${version}.tgz`), join(charts, `yardmaster-chart-${version}.tgz`));
