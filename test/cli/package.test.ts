import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { withService } from '../support/service.js';
import { asAdmin } from './logs.js';
import { signal } from './worker.js';
import { endAll, runCommand } from './yardmaster.js';

const service = withService();
afterEach(endAll);

const script = fileURLToPath(new URL('../../scripts/cli/pack.mjs', import.meta.url));
let folder = '';

/** Run the CLI of the installed package, outside the clone. */
const installed = (...args: string[]) =>
  runCommand(process.execPath, [join(folder, 'node_modules/yardmaster/bin/yardmaster.mjs'), ...args], {
    ...asAdmin(service),
    YARDMASTER_SPACE: 'packed',
  });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'yardmaster-package-'));
  execFileSync(process.execPath, [script, folder], { stdio: 'pipe' });
  const [tarball = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  // Works offline, because the package has no dependencies.
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the npm package is small, has no dependencies, and contains the licenses of what it bundles', () => {
  const path = join(folder, 'node_modules/yardmaster');
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: 'yardmaster', bin: { yardmaster: 'bin/yardmaster.mjs' } });
  expect(manifest.dependencies).toBeUndefined();
  expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['yardmaster']);
  expect(statSync(join(path, 'bin/yardmaster.mjs')).size).toBeLessThan(600_000);
  const licences = readFileSync(join(path, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['commander', 'zod']) expect(licences).toMatch(new RegExp(`^${name} \\d.*\\(MIT\\)$`, 'm'));
});

it('the installed CLI works outside a clone: it shows the service, runs a job, and watches it', async () => {
  const info = installed('info');
  expect([await info.exit(), info.err()]).toEqual([0, '']);
  const worker = installed('work', '--exec', '/bin/cat');
  const create = installed('create', 'echo', '{"a":1}', '--wait', '600');
  expect(await create.end()).toEqual([0, ['{"a":1}'], '']);
  const jobs = installed('jobs', '--json');
  await jobs.exit();
  const watch = installed('watch', JSON.parse(jobs.out()).id);
  const [, yaml] = await installed('jobs', '-o', 'yaml').end();
  expect(yaml).toContain('name: echo');
  expect([await watch.exit(), watch.out()]).toEqual([0, expect.stringContaining('completed')]);
  signal(worker, 'SIGTERM');
  expect(await worker.exit()).toBe(0);
});

it.each(['fsck', 'fsck show job'])('the installed CLI prints where to run %s, which needs Redis', async (command) => {
  const [code, lines, err] = await installed(...command.split(' ')).end();
  expect([code, lines]).toEqual([2, []]);
  expect(err).toContain('fsck needs Redis, so this package does not include it; run it where');
});
