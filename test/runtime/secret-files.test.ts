import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type ConfigError, type Logger, readConfig, type VariableName, watchSecret } from '@yardmaster/runtime';
import { until } from '../support/until.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yardmaster-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const KEY = 'an-admin-key-of-an-operator-with-32';
const MASTER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NAMES = ['REDIS_URL', 'ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET', 'LOG_LEVEL'] as const;

async function fileWith(text: string): Promise<string> {
  const file = join(folder, 'secret');
  await writeFile(file, text);
  return file;
}

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env, NAMES as readonly VariableName[]);
  } catch (error) {
    return (error as ConfigError).faults;
  }
  return [];
};

it.each([
  ['REDIS_URL', 'redis://:p@redis:6379', 'redis://:p@redis:6379'],
  ['ADMIN_API_KEY', KEY, KEY],
  ['CALLBACK_SIGNING_SECRET', MASTER, [Buffer.alloc(32, 7)]],
] as const)('reads %s from a file, without the line end', async (name, text, value) => {
  const config = readConfig({ [`${name}_FILE`]: await fileWith(`${text}\r\n`) }, NAMES);
  expect(config[name]).toEqual(value);
});

it.each(['REDIS_URL', 'ADMIN_API_KEY', 'CALLBACK_SIGNING_SECRET'])(
  'reports what is wrong with the file of %s',
  async (name) => {
    const variable = `${name}_FILE`;
    const absent = join(folder, 'absent');
    expect(faultsOf({ [variable]: absent })).toEqual([
      `${variable} points to a file that cannot be read: ENOENT: no such file or directory, open '${absent}'`,
    ]);
    await mkdir(join(folder, 'folder'));
    expect(faultsOf({ [variable]: join(folder, 'folder') })).toEqual([
      `${variable} points to a file that cannot be read: EISDIR: illegal operation on a directory, read`,
    ]);
    expect(faultsOf({ [variable]: await fileWith(' \n') })).toEqual([`${variable} points to an empty file`]);
    const [fault = ''] = faultsOf({ [variable]: await fileWith('secret text') });
    expect(fault).toMatch(new RegExp(`^${variable} points to a file whose content must `));
    expect(fault).not.toContain('secret text');
  },
);

it('refuses a secret that is in a variable and in a file, and lists all faults together', async () => {
  const file = await fileWith(KEY);
  expect(faultsOf({ ADMIN_API_KEY: KEY, ADMIN_API_KEY_FILE: file, LOG_LEVEL: 'loud' })).toEqual([
    'ADMIN_API_KEY and ADMIN_API_KEY_FILE must not both be set',
    'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent',
  ]);
});

it('reports each new value of a secret file, and nothing while the file is invalid', async () => {
  const file = await fileWith(KEY);
  const lines: string[] = [];
  const found: string[] = [];
  const log = {
    info: (_: object, text: string) => lines.push(text),
    warn: ({ reason }: { reason: string }) => lines.push(reason),
  } as unknown as Logger;
  const watch = watchSecret({
    ...{ name: 'ADMIN_API_KEY', file, value: KEY, log, everyMs: 5 },
    onChange: (value) => found.push(value),
  });
  await watch.start();
  for (const text of ['', 'short', `2-${KEY}`, `2-${KEY}\n`, `3-${KEY}`]) {
    const read = lines.length;
    await writeFile(file, text);
    // The file may be read while it is written, and so be empty for a moment.
    const isValid = text.length > KEY.length;
    await until(() => (isValid ? found.at(-1) === text.trim() : lines.length > read));
  }
  await rm(file);
  await until(
    () => lines.at(-1)?.startsWith('ADMIN_API_KEY_FILE points to a file that cannot be read: ENOENT') === true,
  );
  await watch.stop(1_000);
  expect(found).toEqual([`2-${KEY}`, `3-${KEY}`]);
  expect(lines.join()).not.toContain(KEY);
});
