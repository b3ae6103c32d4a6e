import { describe, expect, it } from '@jest/globals';
import { type LogsRequest, runProgram } from '@yardmaster/cli';

const KEY = { YARDMASTER_API_KEY: 'k' };

async function run(args: string[], env: Record<string, string> = KEY) {
  let out = '';
  let err = '';
  let request: LogsRequest | null = null;
  const code = await runProgram(['logs', ...args], {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
    watch: async () => 5,
    fsck: async () => 5,
    logs: async (asked) => {
      request = asked;
      return 4;
    },
  });
  return { code, out, err, request: request as LogsRequest | null };
}

describe('a command line that is right', () => {
  it('has defaults for all but the job and the key, and hands back how the reading ended', async () => {
    expect(await run(['job'])).toEqual({
      code: 4,
      out: '',
      err: '',
      request: {
        jobId: 'job',
        follow: false,
        levels: [],
        grep: null,
        tail: null,
        service: { url: new URL('http://127.0.0.1:8080'), token: 'k' },
        timeoutSeconds: null,
        format: 'auto',
      },
    });
  });

  it('takes every option, and flags before the environment', async () => {
    const env = { ...KEY, YARDMASTER_URL: 'https://yard.example/base' };
    const options = ['--follow', '--level', 'warn,error', '--grep', 'a "b" .*', '--tail', '50', '--json'];
    const { request } = await run(
      ['job', ...options, '--timeout', '1.5', '--token', 't', '--url', 'http://other'],
      env,
    );
    expect(request).toEqual({
      jobId: 'job',
      follow: true,
      levels: ['warn', 'error'],
      grep: 'a "b" .*',
      tail: 50,
      service: { url: new URL('http://other'), token: 't' },
      timeoutSeconds: 1.5,
      format: 'json',
    });
  });

  it.each([
    [['-f'], { follow: true }],
    [['--level', 'warn', '--level', 'error,fatal'], { levels: ['warn', 'error', 'fatal'] }],
    [['--level', ' info , trace'], { levels: ['info', 'trace'] }],
    [['--tail', '0'], { tail: 0 }],
    [['--tail=7'], { tail: 7 }],
    [['--grep', '--follow'], { grep: '--follow', follow: false }],
    [['--grep', ' '], { grep: ' ' }],
    [['--plain'], { format: 'plain' }],
  ] as [string[], Partial<LogsRequest>][])('reads %j as %j', async (args, fields) => {
    expect((await run([...args, 'job'])).request).toMatchObject(fields);
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('is plain with %j', async (env) => {
    expect((await run(['job'], { ...KEY, ...env })).request?.format).toBe('plain');
  });

  it('explains itself, in the list of commands too', async () => {
    const { code, out, err } = await run(['--help']);
    expect([code, err]).toEqual([0, '']);
    for (const text of ['-f, --follow', '--level <levels>', '--grep <text>', '--tail <count>', 'jobs:read']) {
      expect(out).toContain(text);
    }
    let commands = '';
    const never = async () => 5;
    const [out2, err2] = [(text: string) => (commands += text), () => undefined];
    await runProgram(['--help'], { env: {}, out: out2, err: err2, watch: never, logs: never, fsck: never });
    expect(commands).toMatch(/^ {2}logs \[options\] <jobId> +\S/m);
  });
});

describe('a command line that is wrong exits with 2 and says why', () => {
  const LEVELS = 'Each must be one of trace, debug, info, warn, error, fatal';
  const WHOLE = 'It must be a whole number, 0 or above';

  it.each([
    [[], "missing required argument 'jobId'"],
    [[''], 'the id is empty'],
    [['job', 'job'], 'too many arguments'],
    [['job', '--level', 'warning'], LEVELS],
    [['job', '--level', 'WARN'], LEVELS],
    [['job', '--level', 'warn,'], LEVELS],
    [['job', '--level', ''], LEVELS],
    [['job', '--level', 'info', '--level', 'loud'], LEVELS],
    [['job', '--level'], "option '--level <levels>' argument missing"],
    [['job', '--tail', '-1'], WHOLE],
    [['job', '--tail', '1.5'], WHOLE],
    [['job', '--tail', '1e3'], WHOLE],
    [['job', '--tail', ''], WHOLE],
    [['job', '--tail', 'all'], WHOLE],
    [['job', '--tail', '9007199254740993'], WHOLE],
    [['job', '--tail'], "option '--tail <count>' argument missing"],
    [['job', '--grep', ''], '--grep is empty'],
    [['job', '--grep'], "option '--grep <text>' argument missing"],
    [['job', '--json', '--plain'], '--json and --plain exclude each other'],
    [['job', '--url', 'yard.example'], '--url must begin with http:// or https://'],
    [['job', '--timeout', '0'], "argument '0' is invalid. It must be a number above 0"],
    [['job', '--token', ''], '--token is empty'],
    [['job', '--space', 's'], "unknown option '--space'"],
    [['job', '--folow'], "unknown option '--folow'\n(Did you mean --follow?)"],
  ])('%j', async (args, sentence) => {
    const { code, err, request } = await run(args);
    expect([code, request]).toEqual([2, null]);
    expect(err).toContain(sentence);
  });

  it.each([{}, { YARDMASTER_API_KEY: '' }])('without a key, and tells where to put one: %j', async (env) => {
    const { code, err, request } = await run(['job', '--follow'], env);
    expect([code, request]).toEqual([2, null]);
    expect(err).toContain('logs are read with an API key that holds jobs:read; put it into YARDMASTER_API_KEY\n');
  });

  it('quotes no key', async () => {
    expect((await run(['job', '--tokn=secret'])).err).not.toContain('secret');
  });
});
