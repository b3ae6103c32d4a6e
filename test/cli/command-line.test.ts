import { describe, expect, it } from '@jest/globals';
import { runProgram, type WatchRequest } from '@yardmaster/cli';

async function run(args: string[], env: Record<string, string> = {}) {
  let out = '';
  let err = '';
  let request: WatchRequest | null = null;
  const code = await runProgram(args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
    watch: async (asked) => {
      request = asked;
      return 3;
    },
    logs: async () => 4,
    fsck: async () => 1,
  });
  return { code, out, err, request: request as WatchRequest | null };
}

describe('a command line that is right', () => {
  it('has defaults for all but the job, and hands back how the watch ended', async () => {
    expect(await run(['watch', 'job'])).toEqual({
      code: 3,
      out: '',
      err: '',
      request: {
        subject: { kind: 'job', jobId: 'job' },
        service: { url: new URL('http://127.0.0.1:8080'), token: null },
        timeoutSeconds: null,
        format: 'auto',
      },
    });
  });

  it('takes address and key from the environment, and flags before it', async () => {
    const env = { YARDMASTER_URL: 'https://yard.example/base', YARDMASTER_API_KEY: 'k' };
    const { request } = await run(['watch', '--space', 's'], env);
    expect(request).toMatchObject({
      subject: { kind: 'space', spaceId: 's' },
      service: { url: new URL('https://yard.example/base'), token: 'k' },
    });
    const flags = ['--url', 'http://other', '--token', 't', '--timeout', '1.5', '--json'];
    expect((await run(['watch', 'job', ...flags], env)).request).toMatchObject({
      service: { url: new URL('http://other'), token: 't' },
      timeoutSeconds: 1.5,
      format: 'json',
    });
  });

  it('takes an empty variable for none', async () => {
    const { request } = await run(['watch', 'job'], { YARDMASTER_URL: '', YARDMASTER_API_KEY: '', NO_COLOR: '' });
    expect(request).toMatchObject({ service: { url: new URL('http://127.0.0.1:8080'), token: null }, format: 'auto' });
  });

  it.each([
    [['--plain'], {}],
    [[], { NO_COLOR: '1' }],
    [[], { TERM: 'dumb' }],
  ] as [string[], Record<string, string>][])('is plain with %j %j', async (flags, env) => {
    expect((await run(['watch', 'job', ...flags], env)).request?.format).toBe('plain');
  });

  it('explains itself, the exit codes too', async () => {
    const { code, out, err } = await run(['watch', '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('$YARDMASTER_API_KEY, the better place:');
    expect(out).toContain('  124  gave up after --timeout');
  });
});

describe('a command line that is wrong exits with 2 and says why', () => {
  it.each([
    [['watch'], 'give either a job id or --space'],
    [['watch', 'job', '--space', 's'], 'give either a job id or --space'],
    [['watch', ''], 'the id is empty'],
    [['watch', 'job', 'job'], 'too many arguments'],
    [['watch', '--space', 's'], 'a space is watched with an API key that holds jobs:read'],
    [['watch', 'job', '--token', ''], '--token is empty'],
    [['watch', 'job', '--url', 'yard.example'], '--url must begin with http:// or https://'],
    [['watch', 'job', '--url', 'ws://yard.example'], '--url must begin with http:// or https://'],
    [['watch', 'job', '--timeout', '0'], "argument '0' is invalid. It must be a number above 0"],
    [['watch', 'job', '--timeout', 'soon'], "argument 'soon' is invalid"],
    [['watch', 'job', '--timeout', '9e9'], "argument '9e9' is invalid"],
    [['watch', 'job', '--json', '--plain'], '--json and --plain exclude each other'],
    [['watch', 'job', '--jsno'], "unknown option '--jsno'"],
    [['wacht', 'job'], "unknown command 'wacht'"],
    [[], 'Usage: yardmaster'],
  ])('%j', async (args, sentence) => {
    const { code, err, request } = await run(args);
    expect([code, request]).toEqual([2, null]);
    expect(err).toContain(sentence);
  });

  it('names the variable', async () => {
    expect((await run(['watch', 'job'], { YARDMASTER_URL: 'x' })).err).toContain('YARDMASTER_URL must begin with');
  });

  it('quotes neither key nor password', async () => {
    expect((await run(['watch', 'job', '--tokn=secret'])).err).not.toContain('secret');
    expect((await run(['watch', 'job', '--url', 'http://me:secret@yard.example'])).err).toBe(
      'error: --url must not hold a user name or password\n',
    );
  });
});
