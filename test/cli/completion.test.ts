import { execFileSync, spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { yardmasterHere } from './in-process.js';

/** Return the completions of bash for a command line whose last word is being typed. */
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
  ['yardmaster jobs -o y', ['yaml']],
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
  for (const command of commands.filter((name) => name !== 'help' && name !== 'yardmaster')) {
    const [, help] = await yardmasterHere([command, '--help'], {}).end();
    const options = help
      .map((text) => /^ {2}(?:-\w, )?(--[a-z-]+)/.exec(text)?.[1])
      .filter((name) => name !== undefined);
    expect([command, (await completionsOf(`yardmaster ${command} --`)).sort()]).toEqual([command, options.sort()]);
  }
});

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;

it.each(['bash', 'zsh', 'fish'].filter(has))('prints a script that %s can parse', async (shell) => {
  const run = yardmasterHere(['completion', shell], {});
  await run.exit();
  expect(spawnSync(shell, ['-n', '-c', run.out()], { encoding: 'utf8' }).stderr).toBe('');
});

it('lists every command with its description in the completion script for zsh', async () => {
  const run = yardmasterHere(['completion', 'zsh'], {});
  expect(await run.exit()).toBe(0);
  expect(run.out()).toContain("'kill:Kill jobs that have not ended.'");
  expect(run.out()).toContain("'jobs --status') compadd -- 'scheduled'");
});

const fish = async () => {
  const run = yardmasterHere(['completion', 'fish'], {});
  expect(await run.exit()).toBe(0);
  return run.out();
};

it('lists commands, options and values with descriptions in the completion script for fish', async () => {
  const lines = (await fish()).split('\n');
  const at = (command: string) => `complete -c yardmaster -n '__yardmaster_at \\'${command}\\''`;
  expect(lines).toEqual(
    expect.arrayContaining([
      `${at('')} -f -a 'kill' -d 'Kill jobs that have not ended.'`,
      `${at('keys')} -f -a 'self' -d 'Show what the current API key may do, without its secret.'`,
      `${at('logs')} -l follow -s f -d 'print new entries as they arrive, until the job ends'`,
      `${at('dev')} -l clock -x -a 'redis manual' -d 'with manual, time stands still until POST /test/clock advances it'`,
      `${at('work')} -l exec -r -F -d 'required; program to run, without a shell'`,
    ]),
  );
});

(has('fish') ? it : it.skip).each([
  ['yardmaster cr', ['create']],
  ['yardmaster keys ', ['create', 'list', 'revoke', 'rotate', 'self']],
  ['yardmaster keys create --s', ['--scope', '--space']],
  ['yardmaster jobs --status d', ['dead', 'delivered']],
  ['yardmaster jobs -o y', ['yaml']],
  ['yardmaster work --exec /bin/s', expect.arrayContaining(['/bin/sh'])],
])('completes "%s" in fish', async (line, words) => {
  const args = ['--no-config', '-c', `${await fish()}\ncomplete -C $argv[1]`, line];
  const out = execFileSync('fish', args, { encoding: 'utf8' });
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((text) => text.split('\t')[0]),
  ).toEqual(words);
});
