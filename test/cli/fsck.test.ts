import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { createJobRequest } from '@yardmaster/protocol';
import { createJob, partitionOf } from '@yardmaster/store';
import { freePort } from '../support/free-port.js';
import { jobIn } from '../support/jobs.js';
import { type OwnRedis, startRedis } from '../support/own-redis.js';
import { startService, type TestService } from '../support/service.js';
import { endAll, yardmaster } from './yardmaster.js';

let redis: OwnRedis;
let port: number;
let service: TestService;
beforeAll(async () => {
  port = await freePort();
  redis = await startRedis({ port: String(port) });
  service = await startService({}, { redisUrl: redis.url, app: createApi });
});
afterEach(endAll);
afterAll(async () => {
  await service.stop().finally(() => redis.stop());
});

const env = () => ({ REDIS_URL: redis.url, KEY_PREFIX: service.prefix });

async function fsck(args: string[] = [], variables: Record<string, string> = env()) {
  const run = yardmaster(['fsck', ...args], variables);
  const code = await run.exit();
  return {
    code,
    lines: run
      .out()
      .replaceAll(service.prefix, 'ym')
      .replace(/in \d+\.\d s/, 'in T s')
      .split('\n')
      .slice(0, -1),
    err: run.err(),
  };
}

/** Take jobs out of the jobs of their space. */
async function harm(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await createJob(service.store, 'cli', createJobRequest.parse({ name: 'work' }))).id);
  for (const id of ids) await service.redis.zrem(service.store.keys.jobs('cli'), id);
  return ids;
}

const keyOf = (index: string) => `ym:{${partitionOf('cli')}}:space:cli/${index}`;

it('exits with 0 and says what it has looked at when nothing is wrong', async () => {
  await jobIn(service, 'running', 'cli');
  await service.key(['jobs:read']);
  expect(await fsck()).toEqual({
    code: 0,
    lines: [
      // Its record, three of its indexes, one of its names, the list of spaces, API keys and the partitions.
      'Checked 8 keys: 1 jobs, 3 index entries, 1 spaces, 1 API keys, in T s.',
      'Nothing is wrong.',
    ],
    err: '',
  });
});

it('exits with 1, shows the first faults of each kind, and mends them with --repair', async () => {
  const ids = await harm(23);
  const looked = await fsck();
  expect(looked.code).toBe(1);
  expect(looked.lines[0]).toBe('23 × a job is not in an index that it belongs in: --repair: entered');
  expect(looked.lines[1]).toMatch(
    new RegExp(`^  (${ids.join('|')}) in ${keyOf('jobs').replace(/[{}]/g, '\\$&')}: belongs at \\d+$`),
  );
  expect(looked.lines.slice(21, 22)).toEqual(['  and 3 more, which --verbose shows']);
  expect(looked.lines.at(-1)).toBe('23 faults; --repair would mend 23 of them.');

  const verbose = await fsck(['--verbose']);
  expect(verbose.lines.filter((line) => line.startsWith('entry_missing  ')).length).toBe(23);
  expect(verbose.lines.slice(23, 24)).toEqual(looked.lines.slice(0, 1));

  const repaired = await fsck(['--repair']);
  expect(repaired.code).toBe(0);
  expect(repaired.lines[0]).toBe('23 × a job is not in an index that it belongs in: entered');
  expect(repaired.lines.at(-1)).toBe('All 23 faults are mended.');
  expect((await fsck()).lines.at(-1)).toBe('Nothing is wrong.');
});

it('exits with 1 when --repair has left something', async () => {
  await harm(1);
  const key = `${service.prefix}:of\u001b[31mstrangers`;
  await service.redis.set(key, 'x');
  const { code, lines } = await fsck(['--repair']);
  expect([code, lines.at(-1)]).toEqual([1, '1 faults are mended, 1 are left.']);
  expect(lines).toContain('1 × a key is none of ours: left as it is');
  expect(lines).toContain('  ym:ofstrangers: it is a string');
  await service.redis.del(key);
});

it('prints a JSON line for each fault, and a summary', async () => {
  const [id] = await harm(1);
  const { code, lines } = await fsck(['--json']);
  expect(code).toBe(1);
  const [fault, summary, ...rest] = lines.map((line) => JSON.parse(line));
  expect(fault).toEqual({
    type: 'fault',
    kind: 'entry_missing',
    jobId: id,
    key: keyOf('jobs'),
    detail: expect.stringMatching(/^belongs at \d+$/),
    repair: 'possible',
  });
  expect(summary).toEqual({
    type: 'summary',
    complete: true,
    left: 1,
    mended: 0,
    kinds: { entry_missing: 1 },
    checked: { keys: expect.any(Number), jobs: 26, entries: expect.any(Number), spaces: 0, uncounted: 0, apiKeys: 1 },
  });
  expect(rest).toEqual([]);
  const repaired = await fsck(['--repair', '--json']);
  expect(repaired.code).toBe(0);
  expect(JSON.parse(repaired.lines[0] as string)).toMatchObject({ kind: 'entry_missing', repair: 'done' });
  expect(JSON.parse(repaired.lines[1] as string)).toMatchObject({ left: 0, mended: 1 });
});

it('stops at Ctrl-C between two steps, and says what it has done', async () => {
  await harm(1_500);
  const run = yardmaster(['fsck', '--repair', '--verbose'], env());
  // A reader that is slower than what is found: so the check is not over yet.
  run.child.stdout?.pause();
  await new Promise((resolve) => run.child.stdout?.once('readable', resolve));
  run.child.kill('SIGINT');
  run.child.stdout?.resume();
  expect(await run.exit()).toBe(130);
  expect(run.out()).toContain('Interrupted: checked ');
  const mended = run.out().match(/^entry_missing mended/gm)?.length ?? 0;
  expect(run.out()).toContain(`${mended} faults are mended`);
  expect((await fsck(['--repair'])).code).toBe(0);
  expect((await fsck()).code).toBe(0);
});

describe('a user that may only read', () => {
  const reader = () => ({ ...env(), REDIS_URL: `redis://reader:secret@127.0.0.1:${port}` });
  const RULES = ['+@read', '+@connection', '+info', '+time', '+eval', '+evalsha'];
  beforeAll(async () => {
    await service.redis.call('ACL', ['SETUSER', 'reader', 'on', '>secret', `~${service.prefix}:*`, ...RULES]);
  });

  it('is enough to check, and cannot repair', async () => {
    await harm(1);
    expect((await fsck([], reader())).lines.at(-1)).toBe('1 faults; --repair would mend 1 of them.');
    const { code, lines } = await fsck(['--repair'], reader());
    expect([code, lines[0]]).toEqual([1, '1 × a job is not in an index that it belongs in: 0 entered, 1 not mended']);
    expect(lines[1]).toMatch(/^ {2}NOT MENDED .*; not mended: .*(NOPERM|can't run)/);
    expect((await fsck(['--repair'])).code).toBe(0);
  });

  it('is told what it lacks', async () => {
    await service.redis.call('ACL', ['SETUSER', 'reader', '-info']);
    const { code, err } = await fsck([], reader());
    expect([code, err]).toEqual([2, expect.stringMatching(/^yardmaster: Redis refuses: .*info.*\n$/m)]);
  });

  it('is told that its password is wrong', async () => {
    const { code, err } = await fsck([], { ...reader(), REDIS_URL: `redis://reader:wrong@127.0.0.1:${port}` });
    expect([code, err]).toEqual([2, expect.stringContaining('WRONGPASS')]);
  });
});

describe('exits with 2 and says why', () => {
  it.each([
    ['without REDIS_URL', [], { REDIS_URL: '' }, 'where is Redis? Put its address into REDIS_URL'],
    ['with a wrong REDIS_URL', ['--redis', 'http://me:secret@host'], {}, 'REDIS_URL must be redis://'],
    ['with another wrong variable', [], { RETENTION_SECONDS: 'long' }, 'RETENTION_SECONDS must be'],
    ['without a Redis', ['--redis', 'redis://:secret@127.0.0.1:1'], {}, 'no connection to Redis: connect ECONNREFUSED'],
    ['without anything of ours', ['--prefix', 'nobody'], {}, 'there is no key under the prefix nobody'],
  ])('%s', async (_, args, variables, sentence) => {
    const { code, lines, err } = await fsck(args, { ...env(), ...variables });
    expect([code, lines]).toEqual([2, []]);
    expect(err).toContain(`${sentence}`);
    expect(err).not.toContain('secret');
    expect(err).not.toContain('    at ');
  });
});
