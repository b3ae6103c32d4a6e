import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { LIMITS, logsQuery } from '@yardmaster/protocol';
import { VARIABLES } from '@yardmaster/runtime';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readFileSync(`${root}docs/logs.md`, 'utf8');

const service = withService();

it('the destination in docs/logs.md stores what pino logs', async () => {
  const { id } = await createJob(service, 'docs');
  const code = /```js\n(.*?)```/s.exec(docs)?.[1] as string;
  // In the folder of the tests, from which Node can resolve pino.
  const file = `${root}test/logs/pino-of-the-docs.tmp.mjs`;
  const more = `
    log.child({ page: 7 }).error(new RangeError('too wide'));
    for (let n = 0; n < 1_200; n++) log.debug({ n }, 'not shown');
    log.level = 'trace';
    for (let n = 0; n < 1_200; n++) log.trace({ n }, 'step');
    log.error({ msg: { not: 'a text' }, blob: 'x'.repeat(20_000) });
    pino({ name: 5, timestamp: false }, destination).info('without a time');
    const formatters = { level: (level) => ({ level }) };
    pino({ formatters, customLevels: { audit: 35 } }, destination).fatal('a label');
    log.info({ time: 'yesterday' }, 'y'.repeat(20_000));
    await destination.flush();
  `;
  writeFileSync(file, code + more);
  try {
    const env = { ...process.env, YARDMASTER_URL: service.url, YARDMASTER_API_KEY: ADMIN_KEY, JOB: id };
    const child = spawn(process.execPath, [file], { cwd: root, env, stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([0, null]);
  } finally {
    rmSync(file);
  }
  const { logs, cursor } = (await service.call('GET', `/jobs/${id}/logs?after=0&limit=2`)).body;
  expect(cursor.hasMore).toBe(true);
  expect(logs).toMatchObject([
    { seq: 1, level: 'warn', message: 'no colour profile', source: 'resizer', metadata: { file: 'cat.png' } },
    {
      seq: 2,
      level: 'error',
      message: 'too wide',
      source: 'resizer',
      metadata: { page: 7, err: { type: 'RangeError' } },
    },
  ]);
  const last = (await service.call('GET', `/jobs/${id}/logs?limit=5`)).body.logs;
  expect(last).toMatchObject([
    { seq: 1_202, level: 'trace', message: 'step', metadata: { n: 1_199 } },
    { seq: 1_203, level: 'error', message: '{"not":"a text"}', metadata: { cut: true } },
    { seq: 1_204, level: 'info', message: 'without a time', source: '5', metadata: {} },
    { seq: 1_205, level: 'fatal', message: 'a label', source: 'worker' },
    { seq: 1_206, level: 'info', message: 'y'.repeat(2_500), metadata: { cut: true } },
  ]);
});

it('docs/logs.md lists the limits of logs with their defaults', () => {
  const rows = [...docs.matchAll(/^\| [^|]+ \| (?:the newest )?([\d ]+)(?: (MB|KB))? \| `(\w+)` \|$/gm)];
  const units: Record<string, number> = { MB: 1_048_576, KB: 1_024 };
  expect(rows.length).toBe(5);
  for (const [, amount, unit = '', name] of rows) {
    const bytes = Number(amount?.replaceAll(' ', '')) * (units[unit] ?? 1);
    expect([name, String(bytes)]).toEqual([name, VARIABLES[name as keyof typeof VARIABLES].default]);
  }
  expect(docs).toContain(`${LIMITS.logsDefault} unless given; above ${LIMITS.logsMax} is served as ${LIMITS.logsMax}`);
  expect(docs).toMatch(new RegExp(`${LIMITS.searchCharacters}\\s+characters and ${LIMITS.searchTerms} terms`));
  expect(logsQuery.parse({}).limit).toBe(LIMITS.logsDefault);
});
