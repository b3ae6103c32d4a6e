// Build the packages of a release in .cache/release: npm/*.tgz (SDK and command), python/* (sdist and wheel) and
// chart/*.tgz. It needs Python with venv, and Go.
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

// The wheel is built from the sdist, so that a file that the sdist lacks is noticed.
run(`${python()}python`, ['-m', 'build', '--no-isolation', '--outdir', wheels], { cwd: `${root}sdk/python` });

run(goCommand('helm'), ['package', 'helm/yardmaster', '--destination', charts]);
// The npm package of the command has the name that helm chooses, and a release on GitHub has both.
renameSync(join(charts, `yardmaster-${version}.tgz`), join(charts, `yardmaster-chart-${version}.tgz`));
