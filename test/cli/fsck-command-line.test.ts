import { describe, expect, it } from '@jest/globals';
import { type FsckRequest, runProgram } from '@yardmaster/cli';

async function run(args: string[], env: Record<string, string> = {}) {
  let out = '';
  let err = '';
  let request: FsckRequest | null = null;
  const code = await runProgram(['fsck', ...args], {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
    watch: async () => 5,
    logs: async () => 5,
    fsck: async (asked) => {
      request = asked;
      return 1;
    },
  });
  return { code, out, err, request: request as FsckRequest | null };
}

it('looks only, and takes where Redis is from the environment', async () => {
  const env = { REDIS_URL: 'redis://one', KEY_PREFIX: 'p', RETENTION_SECONDS: '5' };
  expect(await run([], env)).toEqual({
    code: 1,
    out: '',
    err: '',
    request: { isMending: false, isVerbose: false, format: 'auto', variables: env },
  });
});

it('takes flags before the environment', async () => {
  const flags = ['--repair', '--verbose', '--json', '--redis', 'redis://two', '--prefix', 'q'];
  const { request } = await run(flags, { REDIS_URL: 'redis://one', KEY_PREFIX: 'p', NO_COLOR: '1' });
  expect(request).toMatchObject({
    isMending: true,
    isVerbose: true,
    format: 'json',
    variables: { REDIS_URL: 'redis://two', KEY_PREFIX: 'q' },
  });
});

it('explains itself, the exit codes too', async () => {
  const { code, out } = await run(['--help']);
  expect(code).toBe(0);
  for (const text of ['--repair', '--verbose', '--redis <url>', '--prefix <prefix>', '--json', 'RETENTION_SECONDS']) {
    expect(out).toContain(text);
  }
  expect(out).toContain('    1  something is wrong and not mended');
});

describe('a command line that is wrong exits with 2 and says why', () => {
  it.each([
    [['--json', '--plain'], '--json and --plain exclude each other'],
    [['--repiar'], "unknown option '--repiar'"],
    [['job'], 'too many arguments'],
  ])('%j', async (args, sentence) => {
    const { code, err, request } = await run(args);
    expect([code, request]).toEqual([2, null]);
    expect(err).toContain(sentence);
  });
});
