import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { append } from './logs.js';
import { BIN, endAll, runCommand } from './yardmaster.js';

// `script` runs a command on a terminal of its own; that of util-linux is told the command with -c.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startService();
  id = (await createJob(service, 'terminal')).id;
  await append(service, id, ENTRIES);
});
afterEach(endAll);
afterAll(() => service.stop());

const timestamp = '2026-01-31T09:30:01.768Z';
const LONG = 'wide '.repeat(40).trim();
const ENTRIES = [
  { level: 'trace', message: 'one', timestamp },
  { level: 'debug', message: 'two', timestamp },
  { level: 'info', message: LONG, timestamp },
  { level: 'warn', message: 'three', source: 'disk', metadata: { used: 92 }, timestamp },
  { level: 'error', message: '\u001b[2Jfour\r\n\u009b31m', timestamp },
  { level: 'fatal', message: '', timestamp },
];

/** Print logs on a terminal of 60 columns, in a place two hours ahead of UTC. */
function logsOnTerminal(jobId: string, flags = '', env: Record<string, string> = {}) {
  const command = `stty cols 60 rows 20; exec "${process.execPath}" "${BIN}" logs ${jobId} ${flags}`;
  return runCommand('script', ['-qec', command, '/dev/null'], {
    YARDMASTER_URL: service.url,
    YARDMASTER_API_KEY: ADMIN_KEY,
    TERM: 'xterm',
    TZ: 'Etc/GMT-2',
    ...env,
  });
}

const dim = (text: string) => `\u001b[2m${text}\u001b[0m`;
const red = (text: string) => `\u001b[31m${text}\u001b[0m`;
const yellow = (text: string) => `\u001b[33m${text}\u001b[0m`;
const bold = (text: string) => `\u001b[1m${text}\u001b[0m`;

(hasScript ? describe : describe.skip)('on a terminal', () => {
  it('shows the local time of day and colours by level, and cuts nothing', async () => {
    const run = logsOnTerminal(id);
    expect(await run.exit()).toBe(0);
    const time = dim('11:30:01');
    expect(run.out().split('\r\n')).toEqual([
      `${time} ${dim('trace')} one`,
      `${time} ${dim('debug')} two`,
      `${time} info  ${LONG}`,
      `${time} ${yellow('warn ')} ${dim('disk:')} three ${dim('{"used":92}')}`,
      `${time} ${red('error')} four`,
      `${time} ${bold(red('fatal'))}`,
      '',
    ]);
  });

  it.each([
    ['NO_COLOR', '', { NO_COLOR: '1' }],
    ['a terminal without colours', '', { TERM: 'dumb' }],
    ['--plain', '--plain', {}],
  ])('writes plain lines with %s', async (_, flags, env) => {
    const run = logsOnTerminal(id, flags, env as Record<string, string>);
    expect(await run.exit()).toBe(0);
    expect(run.out().split('\r\n')).toEqual([
      `${timestamp} trace one`,
      `${timestamp} debug two`,
      `${timestamp} info  ${LONG}`,
      `${timestamp} warn  disk: three {"used":92}`,
      `${timestamp} error four`,
      `${timestamp} fatal`,
      '',
    ]);
  });

  it('writes JSON without colours', async () => {
    const run = logsOnTerminal(id, '--json --tail 1');
    expect(await run.exit()).toBe(0);
    expect(JSON.parse(run.out())).toMatchObject({ seq: 6, level: 'fatal' });
  });

  it('follows in colours, and ends on Ctrl-C with 130 below the line it is in', async () => {
    const { id: job } = await createJob(service, 'terminal');
    await append(service, job, ['before']);
    const run = logsOnTerminal(job, '--follow');
    await run.shows('before\r\n');
    await append(service, job, [{ level: 'error', message: 'later' }]);
    await run.shows(`${red('error')} later\r\n`);
    run.child.stdin?.write('\u0003');
    expect(await run.exit()).toBe(130);
    expect(run.out().endsWith('later\r\n^C\r\n')).toBe(true);
  });
});
