import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { jobIn } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { BIN, endAll, runCommand } from './yardmaster.js';

// `script` runs a command on a terminal of its own; that of util-linux is told the command with -c.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { app: createApi });
  const id = await jobIn(service, 'pending', 'terminal');
  await service.redis.zrem(service.store.keys.queue('terminal'), id);
});
afterEach(endAll);
afterAll(async () => {
  expect(await fsckOnTerminal('--repair').exit()).toBe(0);
  await service.stop();
});

function fsckOnTerminal(flags: string, env: Record<string, string> = {}) {
  const command = `stty cols 60 rows 20; exec "${process.execPath}" "${BIN}" fsck ${flags}`;
  const variables = { REDIS_URL: process.env.TEST_REDIS_URL as string, KEY_PREFIX: service.prefix, TERM: 'xterm' };
  return runCommand('script', ['-qec', command, '/dev/null'], { ...variables, ...env });
}

(hasScript ? describe : describe.skip)('on a terminal', () => {
  it('shows how far it is in one line, and then what is wrong in colours', async () => {
    const run = fsckOnTerminal('');
    expect(await run.exit()).toBe(1);
    // Each drawing begins by clearing the line, and so does what comes after the last.
    const [before, ...drawn] = run.out().split('\r\u001b[2K');
    const rest = drawn.pop();
    expect(before).toBe('');
    for (const line of drawn) expect(line).toMatch(/^\d+% of \d+ keys[^\r\n]{0,40}$/);
    expect(drawn.length).toBeGreaterThan(0);
    expect(rest).toContain('\u001b[1m1 × a job is not in an index that it belongs in: --repair: entered\u001b[0m\r\n');
    expect(rest).toContain('\u001b[31m1 faults; --repair would mend 1 of them.\u001b[0m\r\n');
  });

  it.each([
    ['--plain', {}],
    ['', { NO_COLOR: '1' }],
  ])('writes plain lines with %j %j', async (flags, env) => {
    const run = fsckOnTerminal(flags, env as Record<string, string>);
    expect(await run.exit()).toBe(1);
    expect(run.out()).not.toContain('\u001b');
    expect(run.out()).toMatch(/^1 × a job .*\r\n {2}.*\r\nChecked .*\r\n1 faults; .*\r\n$/);
  });
});
