import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { yardmasterHere } from './in-process.js';

/** Return what bash completes a command line with, whose last word is being typed. */
async function completionsOf(line: string): Promise<string[]> {
  const run = yardmasterHere(['completion', 'bash'], {});
  expect(await run.exit()).toBe(0);
  const words = line.split(' ');
  const script = `${run.out()}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _yardmaster; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

it.each([
  ['yardmaster cr', ['create']],
  ['yardmaster --ver', ['--version']],
  ['yardmaster keys ', ['create', 'list', 'rotate', 'revoke', 'self', '--help']],
  ['yardmaster keys create --s', ['--scope', '--space']],
  ['yardmaster jobs --status d', ['delivered', 'dead']],
  ['yardmaster jobs --space demo --l', ['--limit']],
  ['yardmaster work --exec ./re', []],
  ['yardmaster completion z', ['zsh']],
])('completes "%s" in bash', async (line, words) => {
  expect(await completionsOf(line)).toEqual(words);
});

it('completes each command with the options that its help lists', async () => {
  const [, lines] = await yardmasterHere(['--help'], {}).end();
  const commands = lines.map((text) => /^ {2}([a-z-]+) [^ ]*/.exec(text)?.[1]).filter((name) => name !== undefined);
  expect(commands).toContain('callback-secret');
  for (const command of commands.filter((name) => name !== 'help')) {
    const [, help] = await yardmasterHere([command, '--help'], {}).end();
    const options = help
      .map((text) => /^ {2}(?:-\w, )?(--[a-z-]+)/.exec(text)?.[1])
      .filter((name) => name !== undefined);
    expect([command, (await completionsOf(`yardmaster ${command} --`)).sort()]).toEqual([command, options.sort()]);
  }
});

const hasZsh = spawnSync('zsh', ['--version']).status === 0;

(hasZsh ? it : it.skip)('prints a script that zsh can parse', async () => {
  const run = yardmasterHere(['completion', 'zsh'], {});
  await run.exit();
  expect(spawnSync('zsh', ['-n', '-c', run.out()], { encoding: 'utf8' }).stderr).toBe('');
});

it('lists every command with its description in the completion script for zsh', async () => {
  const run = yardmasterHere(['completion', 'zsh'], {});
  expect(await run.exit()).toBe(0);
  expect(run.out()).toContain("'kill:Kill jobs that have not ended.'");
  expect(run.out()).toContain("'jobs --status') compadd -- 'scheduled'");
});
