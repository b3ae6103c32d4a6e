import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters as uncoloured } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { work } from './worker.js';
import { BIN, endAll, runCommand } from './yardmaster.js';

// `script` runs a command on a terminal of its own; that of util-linux is told the command with -c.
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

function watchOnTerminal(jobId: string, env: Record<string, string> = {}) {
  const command = `stty cols 60 rows 20; exec "${process.execPath}" "${BIN}" watch ${jobId}`;
  return runCommand('script', ['-qec', command, '/dev/null'], {
    YARDMASTER_URL: service.url,
    YARDMASTER_API_KEY: ADMIN_KEY,
    TERM: 'xterm',
    ...env,
  });
}

(hasScript ? describe : describe.skip)('on a terminal', () => {
  it('draws a job in place, from the progress that it had before, to its end', async () => {
    const id = await jobIn(service, 'running', 'drawn', { name: 'resize' });
    await work(service, id, 'progress', { percent: 40, message: 'Before' });
    const run = watchOnTerminal(id);
    await run.shows('40% Before');
    await work(service, id, 'progress', { percent: 60, message: 'After', subProgress: { decode: { percent: 50 } } });
    await run.shows('60% After');
    await work(service, id, 'complete', { result: 'done' });

    expect(await run.exit()).toBe(0);
    const last = run.out().slice(run.out().lastIndexOf('\u001b[?7l'));
    const lines = uncoloured(last)
      .split('\n')
      .map((line) => line.trim());
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d completed {5}"done"$/),
      expect.stringMatching(new RegExp(`^resize {2}${id} {2}completed {2}0:\\d\\d$`)),
      `${'█'.repeat(20)} 100% After`,
      'decode  █████░░░░░  50%',
      '',
    ]);
    // Wrapping is on again, and nothing else was ever changed.
    expect(last.endsWith('\u001b[?7h')).toBe(true);
    expect(new Set(run.out().match(/\[\?\d+[hl]/g))).toEqual(new Set(['[?7l', '[?7h']));
  });

  it('ends on Ctrl-C with 130, the terminal as it was', async () => {
    const run = watchOnTerminal(await jobIn(service, 'pending', 'interrupted'));
    await run.shows('pending');
    run.child.stdin?.write('\u0003');
    expect(await run.exit()).toBe(130);
    expect(run.out().lastIndexOf('\u001b[?7h')).toBeGreaterThan(run.out().lastIndexOf('\u001b[?7l'));
    expect(run.out().endsWith('\n')).toBe(true);
  });

  it('writes plain lines where NO_COLOR is set', async () => {
    const run = watchOnTerminal(await jobIn(service, 'killed', 'plain'), { NO_COLOR: '1' });
    expect(await run.exit()).toBe(4);
    expect(run.out()).toMatch(/^\S+Z init {10}killed\r\n$/);
  });
});
