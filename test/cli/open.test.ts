import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from '@jest/globals';
import { browserOf } from '@yardmaster/cli';
import { until } from '../support/until.js';
import { endAll, yardmaster } from './yardmaster.js';

const folder = mkdtempSync(join(tmpdir(), 'yardmaster-open-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const URL_OF_JOB = 'http://127.0.0.1:9/ui/#/jobs/job';

it.each([
  ['linux', { DISPLAY: ':0' }, ['xdg-open', URL_OF_JOB]],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open', URL_OF_JOB]],
  ['linux', {}, null],
  ['darwin', {}, ['open', URL_OF_JOB]],
  ['win32', {}, ['cmd', '/c', 'start', '""', `"${URL_OF_JOB}"`]],
])('opens a browser on %s with the variables %j by %j', (platform, env, command) => {
  expect(browserOf(URL_OF_JOB, platform, env)).toEqual(command);
});

const isLinux = process.platform === 'linux';

(isLinux ? it : it.skip)('open starts xdg-open with the URL that it prints, unless --print is given', async () => {
  const [program, opened] = [join(folder, 'xdg-open'), join(folder, 'opened')];
  writeFileSync(program, `#!/bin/sh\necho "$1" > "${opened}.draft" && mv "${opened}.draft" "${opened}"\n`);
  chmodSync(program, 0o755);
  const env = { PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':0', YARDMASTER_URL: 'http://127.0.0.1:9' };
  expect(await yardmaster(['open', 'job', '--print'], env).end()).toEqual([0, [URL_OF_JOB], '']);
  expect(existsSync(opened)).toBe(false);
  expect(await yardmaster(['open', 'job'], env).end()).toEqual([0, [URL_OF_JOB], '']);
  await until(() => existsSync(opened));
  expect(readFileSync(opened, 'utf8')).toBe(`${URL_OF_JOB}\n`);
});

(isLinux ? it : it.skip)('open prints the URL when no program can open it', async () => {
  const env = { PATH: '/nowhere', DISPLAY: ':0', YARDMASTER_URL: 'http://127.0.0.1:9' };
  expect(await yardmaster(['open', 'job'], env).end()).toEqual([0, [URL_OF_JOB], '']);
});
