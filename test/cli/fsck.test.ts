import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FAULTS } from '@yardmaster/fsck';
import { createJobRequest } from '@yardmaster/protocol';
import { createJob, partitionOf } from '@yardmaster/store';
import { during } from '../support/during.js';
import { freePort } from '../support/free-port.js';
import { jobIn } from '../support/jobs.js';
import { startRedis } from '../support/own-redis.js';
import { withService } from '../support/service.js';
import { yardmasterHere } from './in-process.js';
import { endAll, hasTerminals, type Run, yardmaster, yardmasterOnTerminal } from './yardmaster.js';

const redis = during(
  async () => {
    const port = await freePort();
    return { ...(await startRedis({ port: `${port}` })), port };
  },
  ({ stop }) => stop(),
);
const service = withService({}, { redis, app: 'api' });
afterEach(endAll);

const env = () => ({ REDIS_URL: redis.url, KEY_PREFIX: service.prefix });

/** Return exit code, output and errors of a check, with `ym` for the prefix and `T` for the duration. */
async function endOf(run: Run) {
  const [code, lines, err] = await run.end();
  return {
    code,
    err,
    lines: lines.map((line) => line.replaceAll(service.prefix, 'ym').replace(/in \d+\.\d s/, 'in T s')),
  };
}

const fsck = (args: string[] = [], variables: Record<string, string> = env()) =>
  endOf(yardmasterHere(['fsck', ...args], variables));

/** Create jobs, and remove them from the index of all jobs of their space. */
async function damage(count: number): Promise<string[]> {
  const { store, redis: connection } = service;
  const request = createJobRequest.parse({ name: 'work' });
  const jobs = await Promise.all(Array.from({ length: count }, () => createJob(store, 'cli', request)));
  const ids = jobs.map(({ job }) => job.id);
  await connection.zrem(store.keys.jobs('cli'), ...ids);
  return ids;
}

/** A kind of fault in a report, with what the repair does or did. */
const group = (kind: 'entry_missing' | 'key_unknown', result: string) => `${FAULTS[kind].meaning} (${result})`;
const ENTERED = FAULTS.entry_missing.repair;
const keyOf = (index: string) => `ym:{${partitionOf('cli')}}:space:cli/${index}`;

it('fsck exits with 0 and counts what it checked when it finds no fault', async () => {
  await jobIn(service, 'running', 'cli');
  await service.key(['jobs:read']);
  // The job's record, three indexes, one index of names, the list of spaces, API keys, their index and the partitions. The
  // history of the space follows within seconds.
  const checked = expect.stringMatching(
    /^Checked (9|10|11|12) keys: 1 jobs, 4 index entries, 1 spaces, 1 API keys, in T s\.$/,
  );
  const end = await endOf(yardmaster(['fsck'], env()));
  expect(end).toEqual({ code: 0, lines: [checked, 'No faults found.'], err: '' });
});

it('fsck exits with 1 and shows the first faults of each kind; --repair repairs all of them', async () => {
  const ids = await damage(23);
  const found = await endOf(yardmaster(['fsck'], env()));
  expect(found.code).toBe(1);
  expect(found.lines[0]).toBe(`23 × ${group('entry_missing', `with --repair: ${ENTERED}`)}`);
  const sample = /^ {2}(\w+) in (.*): belongs at \d+$/.exec(found.lines[1] ?? '');
  expect([ids.includes(sample?.[1] ?? ''), sample?.[2]]).toEqual([true, keyOf('jobs')]);
  expect(found.lines[21]).toBe('  and 3 more; use --verbose to see them all');
  expect(found.lines.at(-1)).toBe('Faults: 23; --repair can repair 23 of them.');

  const verbose = await fsck(['--verbose']);
  expect(verbose.lines.filter((line) => line.startsWith('entry_missing  '))).toHaveLength(23);
  expect(verbose.lines[23]).toBe(found.lines[0]);

  const repaired = await fsck(['--repair']);
  expect(repaired.code).toBe(0);
  expect(repaired.lines[0]).toBe(`23 × ${group('entry_missing', ENTERED)}`);
  expect(repaired.lines.at(-1)).toBe('Faults: 23 repaired, 0 left.');
  expect((await fsck()).lines.at(-1)).toBe('No faults found.');
});

it('fsck --repair exits with 1 when a fault remains', async () => {
  await damage(1);
  const key = `${service.prefix}:of\u001b[31mstrangers`;
  await service.redis.set(key, 'x');
  const { code, lines } = await fsck(['--repair']);
  expect([code, lines.at(-1)]).toEqual([1, 'Faults: 1 repaired, 1 left.']);
  expect(lines).toContain(`1 × ${group('key_unknown', 'left as is')}`);
  expect(lines).toContain('  ym:ofstrangers: it is a string');
  await service.redis.del(key);
});

it('fsck --json prints a JSON line for each fault, and a summary', async () => {
  const [jobId] = await damage(1);
  const found = await fsck(['--json']);
  expect(found.code).toBe(1);
  const any = expect.any(Number);
  const checked = { keys: any, entries: any, jobs: 26, apiKeys: 1, spaces: 0, uncounted: 0 };
  const detail = expect.stringMatching(/^belongs at \d+$/);
  expect(found.lines.map((line) => JSON.parse(line))).toEqual([
    { type: 'fault', kind: 'entry_missing', jobId, key: keyOf('jobs'), detail, repair: 'possible' },
    { type: 'summary', complete: true, left: 1, repaired: 0, kinds: { entry_missing: 1 }, checked },
  ]);
  const repaired = await fsck(['--repair', '--json']);
  expect(repaired.code).toBe(0);
  expect(repaired.lines.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'entry_missing', repair: 'done' },
    { left: 0, repaired: 1 },
  ]);
});

it('fsck stops between two steps on Ctrl-C, and reports its progress', async () => {
  await damage(1_500);
  const run = yardmaster(['fsck', '--repair', '--verbose'], env());
  // The reader is slower than the check, so the check is not over yet.
  run.child.stdout?.pause();
  await once(run.child.stdout as NodeJS.ReadableStream, 'readable');
  run.child.kill('SIGINT');
  run.child.stdout?.resume();
  expect(await run.exit()).toBe(130);
  expect(run.out()).toContain('Interrupted: checked ');
  const repaired = run.out().match(/^entry_missing repaired/gm)?.length ?? 0;
  expect(run.out()).toContain(`Faults: ${repaired} repaired`);
  expect((await fsck(['--repair'])).code).toBe(0);
  expect((await fsck()).code).toBe(0);
});

describe('fsck as a Redis user that can only read', () => {
  const urlWith = (password: string) => `redis://reader:${password}@127.0.0.1:${redis.port}`;
  const reader = (password = 'secret') => ({ ...env(), REDIS_URL: urlWith(password) });
  const RULES = ['+@read', '+@connection', '+info', '+time', '+eval', '+evalsha'];
  beforeAll(async () => {
    await service.redis.call('ACL', ['SETUSER', 'reader', 'on', '>secret', `~${service.prefix}:*`, ...RULES]);
  });

  it('fsck --repair as a Redis user with read access finds faults, and reports that it repaired none', async () => {
    await damage(1);
    expect((await fsck([], reader())).lines.at(-1)).toBe('Faults: 1; --repair can repair 1 of them.');
    const { code, lines } = await fsck(['--repair'], reader());
    expect([code, lines[0]]).toEqual([1, `1 × ${group('entry_missing', `0 ${ENTERED}, 1 not repaired`)}`]);
    expect(lines[1]).toMatch(/^ {2}NOT REPAIRED .*; not \w+: .*(NOPERM|can't run)/);
    expect((await fsck(['--repair'])).code).toBe(0);
  });

  it('fsck reports when Redis refuses a command or the password', async () => {
    const wrong = await fsck([], reader('wrong'));
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('WRONGPASS')]);
    await service.redis.call('ACL', ['SETUSER', 'reader', '-info']);
    const lacking = await fsck([], reader());
    expect([lacking.code, lacking.err]).toEqual([
      2,
      expect.stringMatching(/^yardmaster: Redis refused a command: .*info.*\n$/m),
    ]);
  });
});

it.each([
  ['without REDIS_URL', [], { REDIS_URL: '' }, 'REDIS_URL is not set; set it or REDIS_URL_FILE as for the service'],
  ['with an invalid REDIS_URL', ['--redis', 'http://me:secret@host'], {}, 'REDIS_URL must be redis://'],
  ['with another invalid variable', [], { RETENTION_SECONDS: 'long' }, 'RETENTION_SECONDS must be'],
  ['with a prefix that no key has', ['--prefix', 'unused'], {}, 'there are no keys with the prefix unused'],
])('fsck exits with 2 and the reason when it is started %s', async (_, args, variables, sentence) => {
  const { code, lines, err } = await fsck(args, { ...env(), ...variables });
  expect([code, lines]).toEqual([2, []]);
  expect(err).toContain(sentence);
  expect(err).not.toContain('secret');
  expect(err).not.toContain('    at ');
});

it('fsck exits with 2 and the reason when it cannot connect to Redis', async () => {
  const run = yardmaster(['fsck'], { ...env(), REDIS_URL: 'redis://:secret@127.0.0.1:1' });
  const error = 'yardmaster: no connection to Redis: connect ECONNREFUSED 127.0.0.1:1\n';
  expect([await run.exit(), run.err()]).toEqual([2, error]);
});

(hasTerminals ? describe : describe.skip)('fsck on a terminal', () => {
  beforeAll(async () => {
    await damage(1);
  });

  it('fsck on a terminal shows its progress on one line, and then the faults in color', async () => {
    const run = yardmasterOnTerminal('fsck', env());
    expect(await run.exit()).toBe(1);
    // Each drawing starts by clearing the line, and so does the output after the last drawing.
    const [before, ...drawn] = run.out().split('\r\u001b[2K');
    const rest = drawn.pop();
    expect(before).toBe('');
    for (const line of drawn) expect(line).toMatch(/^\d+% of [\d,]+ keys[^\r\n]{0,40}$/);
    expect(drawn.length).toBeGreaterThan(0);
    expect(rest).toContain(`\u001b[1m1 × ${group('entry_missing', `with --repair: ${ENTERED}`)}\u001b[0m\r\n`);
    expect(rest).toContain('\u001b[31mFaults: 1; --repair can repair 1 of them.\u001b[0m\r\n');
  });

  it('fsck --repair --plain prints plain lines on a terminal', async () => {
    const run = yardmasterOnTerminal('fsck --repair --plain', env());
    expect(await run.exit()).toBe(0);
    expect(run.out()).not.toContain('\u001b');
    expect(run.out()).toMatch(/^1 × a job .*\r\n {2}.*\r\nChecked .*\r\nFaults: 1 repaired, 0 left\.\r\n$/);
  });
});
