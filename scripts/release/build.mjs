// Build the packages of a release: node scripts/release/build.mjs [folder]
// It makes npm/*.tgz (SDK and command), python/* (sdist and wheel), chart/*.tgz, and SHA256SUMS of all of them. It needs
// Python with venv, and Go. IMAGE is the image that the chart installs by default.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { goCommand } from '../go-command.mjs';
import { python } from '../sdk/test.mjs';
import { setUp } from '../set-up.mjs';
import { image, root, run, version } from './settings.mjs';

const target = resolve(process.argv[2] ?? `${root}.cache/release`);
const staging = mkdtempSync(join(tmpdir(), 'yardmaster-release-'));

/** Make an empty folder in the target. */
function folder(name) {
  const path = join(target, name);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}

function npmPackages() {
  const to = folder('npm');
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', to], { cwd: `${root}sdk/typescript` });
  run(process.execPath, ['scripts/cli/pack.mjs', staging]);
  for (const file of readdirSync(staging).filter((each) => each.endsWith('.tgz')))
    cpSync(join(staging, file), join(to, file));
}

function pythonPackages() {
  // The wheel is built from the sdist, so that a file that the sdist lacks is noticed.
  run(`${python()}python`, ['-m', 'build', '--no-isolation', '--outdir', folder('python')], {
    cwd: `${root}sdk/python`,
  });
}

function chart() {
  const copy = join(staging, 'yardmaster');
  cpSync(`${root}helm/yardmaster`, copy, { recursive: true });
  const values = readFileSync(join(copy, 'values.yaml'), 'utf8');
  const own = values.replace(/^( {2}repository: )\S+\/yardmaster$/m, (_, key) => key + image);
  if (!own.includes(`\n  repository: ${image}\n`)) throw new Error('values.yaml has no image.repository');
  writeFileSync(join(copy, 'values.yaml'), own);
  const to = folder('chart');
  run(goCommand('helm'), ['package', copy, '--destination', to]);
  // The npm package of the command has the name that helm chooses, and a release on GitHub has both.
  renameSync(join(to, `yardmaster-${version}.tgz`), join(to, `yardmaster-chart-${version}.tgz`));
}

function checksums() {
  const files = ['npm', 'python', 'chart'].flatMap((name) =>
    readdirSync(join(target, name)).map((file) => [name, file]),
  );
  const lines = files.map(([name, file]) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(target, name, file)))
      .digest('hex');
    return `${hash}  ${file}\n`;
  });
  writeFileSync(join(target, 'SHA256SUMS'), lines.join(''));
  process.stdout.write(lines.join(''));
}

try {
  setUp('apps/cli', 'sdk/typescript');
  npmPackages();
  pythonPackages();
  chart();
  checksums();
} finally {
  rmSync(staging, { recursive: true, force: true });
}
