import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { goCommand } from '../../scripts/go-command.mjs';
import { asAdmin } from '../cli/logs.js';
import { endAll, runCommand } from '../cli/yardmaster.js';
import { withService } from '../support/service.js';
import { VERSION } from '../support/version.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const built = (path: string) => join(root, '.cache/release', path);

const service = withService();
let dir = '';

/** Make an empty folder for an installation. */
function empty(name: string): string {
  mkdirSync(join(dir, name));
  return join(dir, name);
}

/** Install a package of npm in an empty folder. @returns the folder */
function installed(file: string): string {
  const folder = empty(file);
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', built(`npm/${file}`)], { cwd: folder });
  return folder;
}

/** Run a command, and return what it printed. @throws when it fails */
const printed = (command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  execFileSync(command, args, { encoding: 'utf8', ...options });

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'yardmaster-packages-'));
  execFileSync(process.execPath, [`${root}scripts/release/build.mjs`]);
}, 600_000);
afterAll(() => {
  endAll();
  rmSync(dir, { recursive: true, force: true });
});

it('builds the packages of npm, Python and Helm, and no others', () => {
  expect(['npm', 'python', 'chart'].map((folder) => readdirSync(built(folder)).sort())).toEqual([
    [`yardmaster-${VERSION}.tgz`, `yardmaster-sdk-${VERSION}.tgz`],
    // Python writes the version of a pre-release in its own way.
    [expect.stringMatching(/^yardmaster_sdk-.*\.whl$/), expect.stringMatching(/^yardmaster_sdk-.*\.tar\.gz$/)],
    [`yardmaster-chart-${VERSION}.tgz`],
  ]);
});

it('installs the CLI, which shows the service', async () => {
  const folder = installed(`yardmaster-${VERSION}.tgz`);
  const info = runCommand(join(folder, 'node_modules/.bin/yardmaster'), ['info'], asAdmin(service));
  expect(await info.exit()).toBe(0);
  expect(info.out()).toContain(VERSION);
});

it('installs the TypeScript SDK, which names the repository for its provenance', () => {
  const folder = installed(`yardmaster-sdk-${VERSION}.tgz`);
  const code =
    "import { Yardmaster } from '@yardmaster/sdk'; console.log(typeof new Yardmaster({ space: 'a', apiKey: 'k' }).create)";
  expect(printed(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder })).toBe('function\n');
  const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/@yardmaster/sdk/package.json'), 'utf8'));
  expect(manifest.repository.url).toBe('git+https://github.com/yardmaster/yardmaster.git');
});

it.each(['.whl', '.tar.gz'])('installs the Python SDK of this version from the %s file', (end) => {
  const folder = empty(`python${end}`);
  const python = join(root, '.cache/sdk/python/bin/python');
  const file = readdirSync(built('python')).find((name) => name.endsWith(end));
  // Its dependencies are in this environment.
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--no-index'];
  execFileSync(python, [...pip, '--target', folder, built(`python/${file}`)]);
  const code = 'import yardmaster; print(yardmaster.__version__, yardmaster.__file__)';
  const output = printed(python, ['-c', code], { cwd: folder, env: { ...process.env, PYTHONPATH: folder } });
  expect(output).toBe(`${VERSION} ${folder}/yardmaster/__init__.py\n`);
});

it('renders the chart with the image of the same release', () => {
  const chart = built(`chart/yardmaster-chart-${VERSION}.tgz`);
  const values = ['--kube-version', '1.30', '--set', 'redis.url=redis://r'];
  const images = printed(goCommand('helm'), ['template', 'yard', chart, ...values]).match(/(?<=image: ).+/g) ?? [];
  expect([...new Set(images)]).toEqual([`ghcr.io/yardmaster/yardmaster:${VERSION}`]);
});
