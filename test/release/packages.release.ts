import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { goCommand } from '../../scripts/go-command.mjs';
import { asAdmin } from '../cli/logs.js';
import { endAll, runCommand } from '../cli/yardmaster.js';
import { withService } from '../support/service.js';
import { VERSION } from '../support/version.js';
import { run, script } from './commands.js';

const IMAGE = 'registry.example.com/team/yardmaster';

const service = withService();
let dir = '';
let out = '';

/** Return the only file of a folder of the release with this end, as a path. */
function built(name: string, end: string): string {
  const files = readdirSync(join(out, name)).filter((file) => file.endsWith(end));
  expect(files).toHaveLength(1);
  return join(out, name, files[0] as string);
}

/** Make an empty folder for an installation. */
function empty(name: string): string {
  mkdirSync(join(dir, name));
  return join(dir, name);
}

/** Check that a command succeeds. @returns what it printed */
function succeeds(command: string, args: string[], options?: Parameters<typeof run>[2]): string {
  const { status, output } = run(command, args, options);
  expect({ status, output }).toEqual({ status: 0, output });
  return output;
}

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'yardmaster-packages-'));
  out = join(dir, 'out');
  script('build', [out], { IMAGE });
}, 600_000);
afterAll(() => {
  endAll();
  rmSync(dir, { recursive: true, force: true });
});

describe('built packages', () => {
  it('are those of npm, Python and Helm, with their checksums', () => {
    const names = ['npm', 'python', 'chart'].flatMap((name) =>
      readdirSync(join(out, name)).map((file) => [name, file]),
    );
    const lines = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n');
    expect(lines.map((line) => line.slice(66))).toEqual(names.map(([, file]) => file));
    expect(new Set(names.map(([, file]) => file)).size).toBe(5);
    const flat = empty('downloaded');
    for (const [name, file] of names) {
      writeFileSync(join(flat, file as string), readFileSync(join(out, name as string, file as string)));
    }
    succeeds('sha256sum', ['--check', '--strict', join(out, 'SHA256SUMS')], { cwd: flat });
  });

  it('of the command shows the service, from an empty folder', async () => {
    const folder = empty('command');
    succeeds('npm', ['install', '--offline', '--no-audit', '--no-fund', built('npm', `yardmaster-${VERSION}.tgz`)], {
      cwd: folder,
    });
    const info = runCommand(join(folder, 'node_modules/.bin/yardmaster'), ['info'], asAdmin(service));
    expect(await info.exit()).toBe(0);
    expect(info.out()).toContain(VERSION);
  });

  it('of the TypeScript SDK can be imported, and names the repository for its provenance', () => {
    const folder = empty('typescript');
    const file = built('npm', `sdk-${VERSION}.tgz`);
    succeeds('npm', ['install', '--offline', '--no-audit', '--no-fund', file], { cwd: folder });
    const code =
      "import { Yardmaster } from '@yardmaster/sdk'; console.log(typeof new Yardmaster({ space: 'a', apiKey: 'k' }).create)";
    expect(succeeds(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder })).toBe('function\n');
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/@yardmaster/sdk/package.json'), 'utf8'));
    expect(manifest.repository.url).toBe('git+https://github.com/yardmaster/yardmaster.git');
  });

  it.each(['.whl', '.tar.gz'])('of the Python SDK (%s) can be imported, with their version', (end) => {
    const folder = empty(`python${end}`);
    const python = join(import.meta.dirname, '../../.cache/sdk/python/bin/python');
    // Its dependencies are in this environment.
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--no-index'];
    succeeds(python, [...pip, '--target', folder, built('python', end)]);
    const code = 'import yardmaster; print(yardmaster.__version__, yardmaster.__file__)';
    const printed = succeeds(python, ['-c', code], { cwd: folder, env: { PYTHONPATH: folder } });
    expect(printed).toBe(`${VERSION} ${folder}/yardmaster/__init__.py\n`);
  });

  it('of the chart installs the image of the same release, from the registry of that release', () => {
    const args = ['template', 'yard', built('chart', '.tgz'), '--kube-version', '1.30', '--set', 'redis.url=redis://r'];
    const images = succeeds(goCommand('helm'), args).match(/(?<=image: ).+/g) ?? [];
    expect([...new Set(images)]).toEqual([`${IMAGE}:${VERSION}`]);
  });
});
