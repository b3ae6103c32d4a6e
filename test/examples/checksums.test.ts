import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JobWithEvents } from '@yardmaster/protocol';
import { endAll, isGroupAlive, type ProcessRun, runCommand } from '../cli/yardmaster.js';
import type { HttpResponse } from '../support/http.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';

jest.setTimeout(120_000);

const EXAMPLE = new URL('../../examples/checksums/', import.meta.url);

let dir: string;
const service = withService();
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'yardmaster-checksums-'));
});
afterEach(endAll);
afterAll(() => rm(dir, { recursive: true, force: true }));

const start = (args: string[], env: Record<string, string> = {}) =>
  runCommand(process.execPath, [fileURLToPath(new URL('main.mjs', EXAMPLE)), ...args], env);

const at = (space: string, url = service.url) => ['--url', url, '--key', ADMIN_KEY, '--space', space];

/** Create a folder with these files. */
async function folderOf(name: string, files: Record<string, string | Buffer>): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder);
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content);
  return folder;
}

const small = (count: number) => Object.fromEntries([...Array(count).keys()].map((i) => [`${i}.txt`, `content ${i}`]));

async function pathsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Run `sha256sum` on these files, or `shasum` if it is missing, and return the sorted lines. */
function sumsOf(paths: string[]): string[] {
  const command = 'if command -v sha256sum >&2; then sha256sum -- "$@"; else shasum -a 256 -- "$@"; fi';
  return linesOf(spawnSync('sh', ['-c', command, 'sh', ...paths], { encoding: 'utf8' }).stdout);
}

const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();

async function jobsOf(space: string): Promise<JobWithEvents[]> {
  const pages = [0, 100].map((offset) => service.call('GET', `/spaces/${space}/jobs?limit=100&offset=${offset}`));
  const jobs: { id: string }[] = (await Promise.all(pages)).flatMap(({ body }) => body);
  return Promise.all(jobs.map(async ({ id }) => (await service.call('GET', `/jobs/${id}`)).body));
}

async function keysOf(space: string) {
  const { body } = await service.call('GET', '/keys');
  return body.filter(({ spaceId }: { spaceId: string }) => spaceId === space);
}

/** Handle a request in the proxy; null closes the connection without a response. */
type ProxyHandler = (
  path: string,
  pass: () => Promise<HttpResponse>,
) => Promise<Pick<HttpResponse, 'status' | 'text'> | null>;

/** Run the example to its end, with a proxy between it and the service. */
async function runThroughProxy(handle: ProxyHandler, space: string, args: string[]) {
  const proxy = http.createServer(async (request, response) => {
    const path = request.url as string;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host, connection, ...headers } = request.headers;
    const raw = Buffer.concat(chunks);
    const forwarded = await handle(path, () =>
      service.http.call(request.method as string, path, raw.length > 0 ? { raw, headers } : { headers }),
    );
    if (forwarded === null) request.socket.destroy();
    else
      response
        .writeHead(forwarded.status, { 'content-type': 'application/json', 'retry-after': '0' })
        .end(forwarded.text);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  try {
    const run = start([...args, ...at(space, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)]);
    return { code: await run.exit(), out: run.out(), err: run.err() };
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

// A slow machine may get additional 503 responses, and then a second job or another attempt. So the tests check what must
// happen, and allow more.

describe('run of the checksums example with a killed worker, in a space with abandoned jobs', () => {
  const odd = ['with spaces.txt', 'späße 漢字 🗂.txt', '-dash', 'quote\'s "both" $HOME *.txt', 'back\\slash'];
  let paths: string[];
  let jobs: JobWithEvents[];
  let abandoned: string[];
  let run: ProcessRun;

  beforeAll(async () => {
    const folder = await folderOf('many', {
      ...small(110),
      ...Object.fromEntries(odd.map((name) => [name, name])),
      empty: '',
      'mebibyte.bin': Buffer.alloc(1024 * 1024, 1),
      'large.bin': Buffer.alloc(9 * 1024 * 1024, 2),
    });
    await mkdir(join(folder, 'a/b'), { recursive: true });
    await writeFile(join(folder, 'a/b/nested'), 'nested');
    await symlink(folder, join(folder, 'a/loop'));
    await symlink(join(folder, 'empty'), join(folder, 'a/link'));
    paths = await pathsOf(folder);
    const jobOf = (path: string) => ({ name: 'checksum.small', payload: { path: join(folder, path) } });
    abandoned = [
      await jobIn(service, 'delivered', 'many', jobOf('1.txt')),
      await jobIn(service, 'running', 'many', jobOf('2.txt')),
    ];
    run = start([folder, '--workers', '3', '--kill-one', '--output', join(dir, 'SHA256SUMS'), ...at('many')]);
    await run.exit();
    jobs = await jobsOf('many');
  });

  it('exits with 0, prints a row for each file and totals, and writes the output of sha256sum', async () => {
    expect([await run.exit(), run.err()]).toEqual([0, '']);
    expect(run.out().match(/^ *\d+ {2}[0-9a-f]{64} +\d+ {2}completed {2}.+$/gm)).toHaveLength(paths.length);
    const totals = `^${paths.length} files, \\d+ bytes, .* files per second, [1-9]\\d* retried, 0 dead$`;
    expect(run.out()).toMatch(new RegExp(totals, 'm'));
    expect(linesOf(await readFile(join(dir, 'SHA256SUMS'), 'utf8'))).toEqual(sumsOf(paths));
  });

  it('fails the jobs of the killed worker and the abandoned jobs, and completes all', () => {
    expect(new Set(jobs.map(({ payload }) => payload?.path))).toEqual(new Set(paths));
    expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);

    expect(run.out()).toMatch(/^Killing Worker \d \(pid \d+\) with kill -9 while it has [1-4] jobs?$/m);
    const [, failed] = /died \(SIGKILL\): failed ([1-4]) jobs? on its behalf, starting another$/m.exec(run.out()) ?? [];
    for (const id of abandoned) expect(run.out()).toContain(`Failed job ${id}, which no worker has`);
    const retried = jobs.filter(({ attemptNumber }) => attemptNumber > 1);
    expect(retried.map(({ id }) => id)).toEqual(expect.arrayContaining(abandoned));
    expect(retried.length).toBeGreaterThanOrEqual(Number(failed) + abandoned.length);
    for (const { events } of retried) {
      const data = events.find(({ type }) => type === 'retried')?.data;
      expect(data).toEqual({ error: 'worker died', attemptNumber: 1 });
    }
  });

  it('uses a separate job name for large files, reports progress on all, and leaves no process and no key', async () => {
    expect(jobs.filter(({ name }) => name === 'checksum.large')).toHaveLength(2);
    expect(jobs.filter(({ events }) => !events.some(({ type }) => type === 'progress'))).toEqual([]);
    expect(isGroupAlive(run.child)).toBe(false);
    expect(await keysOf('many')).toEqual([]);
  });
});

it('the checksums example repeats requests whose responses are lost, and works on no job twice', async () => {
  const folder = await folderOf('lossy', small(20));
  const output = join(dir, 'LOSSY');
  const lost: Record<string, number> = { jobs: 0, poll: 0, ack: 0, progress: 0, complete: 0 };
  const attempts: { id: string; attemptNumber: number }[] = [];
  // The first two requests of each kind are executed, but get a 503 or no response.
  const { code, err } = await runThroughProxy(
    async (path, pass) => {
      const response = await pass();
      const verb = path.split('/').at(-1) as string;
      const times = lost[verb];
      if (times === undefined || times >= 2 || response.text === '{"jobs":[]}\n') return response;
      lost[verb] = times + 1;
      const [, id] = /jobs\/(\w+)\/\w+$/.exec(path) ?? [];
      if (id) attempts.push((await service.call('GET', `/jobs/${id}`)).body);
      return times === 0 ? { status: 503, text: '{"error":"outcome unknown"}' } : null;
    },
    'lossy',
    [folder, '--workers', '2', '--output', output],
  );

  expect([code, err]).toEqual([0, '']);
  expect(lost).toEqual({ jobs: 2, poll: 2, ack: 2, progress: 2, complete: 2 });
  expect(linesOf(await readFile(output, 'utf8'))).toEqual(sumsOf(await pathsOf(folder)));
  const jobs = await jobsOf('lossy');
  expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);
  // The job completed in the attempt whose response was lost.
  const ended = attempts.map(({ id }) => jobs.find((job) => job.id === id)?.attemptNumber);
  expect(ended).toEqual(attempts.map(({ attemptNumber }) => attemptNumber));
  // A repeated create makes a second job; the jobs in a lost response to a poll are retried.
  expect(jobs.length).toBeGreaterThanOrEqual(22);
  expect(jobs.some(({ attemptNumber }) => attemptNumber > 1)).toBe(true);
});

it('the checksums example reports unreadable files as dead with the reason, and killed jobs, and exits with 1', async () => {
  const folder = await folderOf('unreadable', { one: 'one file', other: 'one file', gone: 'gone' });
  const output = join(dir, 'UNREADABLE');
  let killed = '';
  const { code, out, err } = await runThroughProxy(
    async (path, pass) => {
      if (path.endsWith('/jobs')) await rm(join(folder, 'gone'), { force: true });
      const [, id] = /jobs\/(\w+)\/progress$/.exec(path) ?? [];
      if (id && killed === '') {
        killed = id;
        await service.call('POST', `/jobs/${id}/kill`, { body: { reason: 'enough' } });
      }
      return pass();
    },
    'unreadable',
    [folder, '--output', output],
  );

  expect([code, err]).toEqual([1, '']);
  expect(out).toMatch(/ - +4 {2}dead +.*\/gone {2}\(ENOENT: /);
  expect(out).toMatch(/^3 files, 8 bytes, .* retried, 1 dead, 1 killed$/m);
  const { body: victim } = await service.call('GET', `/jobs/${killed}`);
  const kept = (await pathsOf(folder)).filter((path) => path !== victim.payload.path);
  expect(linesOf(await readFile(output, 'utf8'))).toEqual(sumsOf(kept));
});

describe('interrupted run of the checksums example', () => {
  /** Start a run that cannot end by itself, because no worker claims one of the jobs. */
  async function startEndless(space: string) {
    await createJob(service, space, { name: 'not-for-us' });
    const run = start([await folderOf(space, small(4)), '--workers', '2', ...at(space)]);
    await run.shows('4 of 4 files');
    return run;
  }

  it('leaves no worker behind when it is killed', async () => {
    const run = await startEndless('killed');
    run.child.kill('SIGKILL');
    // Its workers write to the same pipe, which closes only when they have ended too.
    expect(await run.exit()).toBe(null);
  });

  it('stops its workers on Ctrl-C, revokes their key, and exits with 130', async () => {
    const run = await startEndless('interrupted');
    process.kill(-(run.child.pid as number), 'SIGINT');
    expect([await run.exit(), run.err()]).toEqual([130, '']);
    expect(isGroupAlive(run.child)).toBe(false);
    expect(await keysOf('interrupted')).toEqual([]);
  });
});

function signal() {
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

it('the checksums example does not treat a job as abandoned while the response with it is delayed', async () => {
  const folder = await folderOf('on-its-way', { one: 'one' });
  const [firstPoll, delivered, looked] = [signal(), signal(), signal()];
  const seen: string[] = [];
  // The worker polls an empty space. Then the job is created and polled, and while that response is delayed, the run looks
  // for abandoned jobs.
  const { code } = await runThroughProxy(
    async (path, pass) => {
      if (path.endsWith('/jobs')) await firstPoll.given;
      const response = await pass();
      if (path.endsWith('/jobs')) await delivered.given;
      if (path.includes('status=running')) looked.give();
      if (!path.endsWith('/poll')) return response;
      firstPoll.give();
      const [job] = JSON.parse(response.text).jobs;
      if (job === undefined) return response;
      delivered.give();
      await looked.given;
      for (let i = 0; i < 20; i++) seen.push((await service.call('GET', `/jobs/${job.id}`)).body.status);
      return response;
    },
    'way',
    [folder, '--workers', '1'],
  );
  expect([code, seen]).toEqual([0, Array(20).fill('delivered')]);
  expect(await jobsOf('way')).toMatchObject([{ status: 'completed', attemptNumber: 1 }]);
});

describe('run of the checksums example that cannot begin', () => {
  it.each([
    ['/does/not/exist', '/does/not/exist is not a folder'],
    [`${tmpdir()} --workers 0`, '--workers must be a whole number from 1 to 64, not "0"'],
    [`${tmpdir()} --url ftp://x`, '--url must begin with http:// or https://'],
    [`${tmpdir()} --space a/b`, '--space must be 1 to 128 characters'],
    [`${tmpdir()} --wrokers 2`, "Unknown option '--wrokers'"],
  ])('prints what is wrong with %s', async (line, sentence) => {
    const { readOptions, UsageError } = await import(new URL('options.mjs', EXAMPLE).href);
    const read = () => readOptions(line.split(' '));
    expect(read).toThrow(sentence);
    expect(read).toThrow(UsageError);
  });

  it.each([
    [[], {}, 2, 'Give one folder, not none\n\nUsage: '],
    [['--url', 'http://127.0.0.1:1', '--key', 'any', tmpdir()], {}, 1, ': start it with npm start'],
    [[tmpdir()], { YARDMASTER_URL: 'ftp://x' }, 2, 'YARDMASTER_URL must begin with http:// or https://'],
    [[tmpdir()], { DATA_DIR: '/none' }, 2, 'There is no API key: start the service with npm start'],
  ])('exits with %j %j with %i and a reason', async (args, env, code, reason) => {
    const run = start(args, env);
    expect([await run.exit(), run.err()]).toEqual([code, expect.stringContaining(reason)]);
  });

  it('takes the address from YARDMASTER_URL and the key from the data folder of the service', async () => {
    const data = await folderOf('data', { 'admin-key': 'ym_wrong\n' });
    const run = start([dir], { YARDMASTER_URL: service.url, DATA_DIR: data, YARDMASTER_API_KEY: '' });
    const error = 'POST /keys was refused with 401: A valid API key is required\n';
    expect([await run.exit(), run.err()]).toEqual([1, error]);
  });
});
