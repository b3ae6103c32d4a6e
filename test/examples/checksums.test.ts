import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JobWithEvents } from '@yardmaster/protocol';
import type { Answer } from '../support/http.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);

const MAIN = fileURLToPath(new URL('../../examples/checksums/main.mjs', import.meta.url));

let service: TestService;
let dir: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  service = await startService();
  dir = await mkdtemp(join(tmpdir(), 'yardmaster-checksums-'));
});
afterEach(() => {
  for (const { pid } of running) if (pid !== undefined && isGroupAlive(pid)) process.kill(-pid, 'SIGKILL');
  running.clear();
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
  await service.stop();
});

interface Run {
  child: ChildProcess;
  pid: number;
  /** What was written so far. */
  out: () => string;
  err: () => string;
  exit: Promise<number | null>;
}

/** Start the example as a process group of its own, so that whatever it leaves behind can be found. */
function start(args: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [MAIN, ...args], { detached: true, env: { ...process.env, ...env } });
  running.add(child);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text;
  });
  const exit = once(child, 'close').then(([code]) => code as number | null);
  return { child, pid: child.pid as number, out: () => out, err: () => err, exit };
}

async function hasWritten(run: Run, text: string): Promise<void> {
  while (!run.out().includes(text)) await once(run.child.stdout as NodeJS.ReadableStream, 'data');
}

function isGroupAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

const at = (space: string, url = service.url) => ['--url', url, '--key', ADMIN_KEY, '--space', space];

/** A folder with these files; a null content is a folder. */
async function folderOf(name: string, files: Record<string, string | Buffer | null>): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder);
  for (const [path, content] of Object.entries(files)) {
    if (content === null) await mkdir(join(folder, path), { recursive: true });
    else await writeFile(join(folder, path), content);
  }
  return folder;
}

const small = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.txt`, `content ${i}`]));

async function pathsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** What `sha256sum` says of these files, or Node's crypto where there is no such program; sorted lines. */
async function referenceOf(paths: string[]): Promise<string[]> {
  const { status, stdout } = spawnSync('sha256sum', ['--', ...paths], { encoding: 'utf8', maxBuffer: 1e8 });
  if (status === 0) return linesOf(stdout);
  const line = async (path: string) =>
    `${createHash('sha256')
      .update(await readFile(path))
      .digest('hex')}  ${path}`;
  return (await Promise.all(paths.map(line))).sort();
}

const linesOf = (text: string) => text.split('\n').filter(Boolean).sort();

async function jobsOf(space: string): Promise<JobWithEvents[]> {
  const jobs: JobWithEvents[] = [];
  for (let isLast = false; !isLast; ) {
    const { body } = await service.call('GET', `/spaces/${space}/jobs?limit=100&offset=${jobs.length}`);
    isLast = body.length === 0;
    for (const { id } of body) jobs.push((await service.call('GET', `/jobs/${id}`)).body);
  }
  return jobs;
}

async function keysOf(space: string) {
  const { body } = await service.call('GET', '/keys');
  return body.filter(({ spaceId }: { spaceId: string }) => spaceId === space);
}

function signal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** What to do with a request on its way; null hangs up without an answer. */
type Meddle = (path: string, pass: () => Promise<Answer>) => Promise<Pick<Answer, 'status' | 'text'> | null>;

/** Put something between the example and the service that the network might do as well. */
async function withProxy<T>(meddle: Meddle, act: (url: string) => Promise<T>): Promise<T> {
  const proxy = http.createServer(async (request, response) => {
    const path = request.url as string;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host, connection, ...headers } = request.headers;
    const raw = Buffer.concat(chunks);
    const answer = await meddle(path, () =>
      service.http.call(request.method as string, path, raw.length > 0 ? { raw, headers } : { headers }),
    );
    if (answer === null) request.socket.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json', 'retry-after': '0' }).end(answer.text);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    return await act(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

// A slow machine may see a 503 of its own, and with it a second job or another attempt. So the tests name what must be,
// and leave room for more.

describe('over a thousand files, with a worker killed half-way', () => {
  const odd = ['with spaces.txt', 'späße 漢字 🗂.txt', '-dash', 'quote\'s "both" $HOME *.txt', 'back\\slash'];
  let folder: string;
  let paths: string[];
  let run: Run;
  let output: string;

  beforeAll(async () => {
    folder = await folderOf('thousand', {
      ...small(900),
      'a/b/c': null,
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a/b/c/${i}`, `nested ${i}`])),
      ...Object.fromEntries(odd.map((name) => [name, name])),
      empty: '',
      'mebibyte.bin': Buffer.alloc(1024 * 1024, 1),
      'large.bin': Buffer.alloc(3 * 1024 * 1024 + 1, 2),
      'a/larger.bin': Buffer.alloc(9 * 1024 * 1024, 3),
    });
    await symlink(folder, join(folder, 'a/loop'));
    await symlink(join(folder, 'empty'), join(folder, 'a/link'));
    paths = await pathsOf(folder);
    output = join(dir, 'SHA256SUMS');
    run = start([folder, '--workers', '4', '--kill-one', '--output', output, ...at('thousand')]);
    await run.exit;
  });

  it('exits with 0, without a word of error', async () => {
    expect(run.err()).toBe('');
    expect(await run.exit).toBe(0);
  });

  it('writes what sha256sum writes', async () => {
    expect(paths.length).toBeGreaterThan(1000);
    expect(linesOf(await readFile(output, 'utf8'))).toEqual(await referenceOf(paths));
  });

  it('prints a row for each file, and totals', () => {
    const rows = run.out().match(/^ *\d+ {2}[0-9a-f]{64} +\d+ {2}completed {2}.+$/gm);
    expect(rows).toHaveLength(paths.length);
    expect(run.out()).toMatch(
      new RegExp(`^${paths.length} files, \\d+ bytes, .* files per second, [1-9]\\d* retried, 0 dead$`, 'm'),
    );
  });

  it('killed a worker that held jobs, failed them for it and had them retried', async () => {
    const jobs = await jobsOf('thousand');
    expect(new Set(jobs.map(({ payload }) => payload?.path))).toEqual(new Set(paths));
    expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);

    expect(run.out()).toMatch(/^Killing Worker \d \(pid \d+\) with kill -9 while it holds [1-4] jobs?$/m);
    const [, failed] = /died \(SIGKILL\): failed ([1-4]) jobs? on its behalf, starting another$/m.exec(run.out()) ?? [];
    const retried = jobs.filter(({ attemptNumber }) => attemptNumber > 1);
    expect(retried.length).toBeGreaterThanOrEqual(Number(failed));
    for (const { events } of retried) {
      const data = events.find(({ type }) => type === 'retried')?.data;
      expect(data).toEqual({ error: 'worker died', attemptNumber: 1 });
    }
  });

  it('gave large files a type of their own and reported progress on all', async () => {
    const jobs = await jobsOf('thousand');
    expect(jobs.filter(({ name }) => name === 'checksum.large')).toHaveLength(3);
    expect(jobs.filter(({ events }) => !events.some(({ type }) => type === 'progress'))).toEqual([]);
  });

  it('leaves no process and no key behind', async () => {
    expect(isGroupAlive(run.pid)).toBe(false);
    expect(await keysOf('thousand')).toEqual([]);
  });
});

describe('jobs that nobody holds', () => {
  it('are failed, retried and completed, whether they were delivered or running', async () => {
    const folder = await folderOf('orphans', small(20));
    const create = async (path: string) => {
      const body = { name: 'checksum.small', payload: { path } };
      return (await service.call('POST', '/spaces/orphans/jobs', { body })).body.id as string;
    };
    const delivered = await create(join(folder, '1.txt'));
    const started = await create(join(folder, '2.txt'));
    for (const id of [delivered, started]) await service.call('POST', `/jobs/${id}/claim`);
    await service.call('POST', `/jobs/${started}/ack`);

    const run = start([folder, '--workers', '2', ...at('orphans')]);

    expect(await run.exit).toBe(0);
    const jobs = await jobsOf('orphans');
    expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);
    const retried = jobs.filter(({ attemptNumber }) => attemptNumber === 2).map(({ id }) => id);
    expect(retried).toEqual(expect.arrayContaining([delivered, started]));
  });
});

describe('a job on its way to a worker', () => {
  it('is not taken for one that nobody holds', async () => {
    const folder = await folderOf('on-its-way', { one: 'one' });
    const firstPoll = signal();
    const delivered = signal();
    const looked = signal();
    const seen: string[] = [];
    // The worker says that it is idle, then the job is created and polled, and while that answer lingers here, the
    // run looks what is left.
    const create: Meddle = async (_, pass) => {
      await firstPoll.given;
      const answer = await pass();
      await delivered.given;
      return answer;
    };
    const look: Meddle = async (_, pass) => {
      const answer = await pass();
      looked.give();
      return answer;
    };
    const poll: Meddle = async (_, pass) => {
      const answer = await pass();
      firstPoll.give();
      const [job] = JSON.parse(answer.text).jobs;
      if (job === undefined) return answer;
      delivered.give();
      await looked.given;
      // Time enough for what must not happen.
      for (let i = 0; i < 20; i++) seen.push((await service.call('GET', `/jobs/${job.id}`)).body.status);
      return answer;
    };
    const linger: Meddle = (path, pass) => {
      if (path.endsWith('/jobs')) return create(path, pass);
      if (path.endsWith('/poll')) return poll(path, pass);
      return path.includes('status=running') ? look(path, pass) : pass();
    };

    const code = await withProxy(linger, async (url) => start([folder, '--workers', '1', ...at('way', url)]).exit);

    expect(code).toBe(0);
    expect(seen).toEqual(Array(20).fill('delivered'));
    expect(await jobsOf('way')).toMatchObject([{ status: 'completed', attemptNumber: 1 }]);
  });
});

describe('answers that do not arrive', () => {
  it('cost a repetition and no job', async () => {
    const folder = await folderOf('lossy', small(60));
    const lost: Record<string, number> = { jobs: 0, poll: 0, ack: 0, progress: 0, complete: 0 };
    const attempts: { id: string; attemptNumber: number }[] = [];
    // The first two of each kind take effect, and their senders are told 503, or nothing at all.
    const lose: Meddle = async (path, pass) => {
      const answer = await pass();
      const verb = path.split('/').at(-1) as string;
      const times = lost[verb];
      if (times === undefined || times >= 2 || answer.text === '{"jobs":[]}') return answer;
      lost[verb] = times + 1;
      const [, id] = /jobs\/(\w+)\/\w+$/.exec(path) ?? [];
      if (id) attempts.push((await service.call('GET', `/jobs/${id}`)).body);
      return times === 0 ? { status: 503, text: '{"error":"outcome unknown"}' } : null;
    };

    const output = join(dir, 'LOSSY');
    const code = await withProxy(lose, async (url) => {
      const run = start([folder, '--workers', '3', '--output', output, ...at('lossy', url)]);
      await run.exit;
      expect(run.err()).toBe('');
      return run.exit;
    });

    expect(code).toBe(0);
    expect(lost).toEqual({ jobs: 2, poll: 2, ack: 2, progress: 2, complete: 2 });
    expect(linesOf(await readFile(output, 'utf8'))).toEqual(await referenceOf(await pathsOf(folder)));
    const jobs = await jobsOf('lossy');
    expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([]);
    // What was lost was not worked again: the job completed in that very attempt.
    const ended = attempts.map(({ id }) => jobs.find((job) => job.id === id)?.attemptNumber);
    expect(ended).toEqual(attempts.map(({ attemptNumber }) => attemptNumber));
    // A create that is sent again makes a second job; what a lost answer to a poll held is retried.
    expect(jobs.length).toBeGreaterThanOrEqual(62);
    expect(jobs.some(({ attemptNumber }) => attemptNumber > 1)).toBe(true);
  });
});

describe('jobs that do not complete', () => {
  it('show a file that cannot be read as dead, with the reason, and exit with 1', async () => {
    const folder = await folderOf('unreadable', { fine: 'fine', secret: 'secret' });
    if (process.platform === 'linux') {
      // A name that is no UTF-8 names no file once it was decoded, not even for root, whom chmod does not stop.
      await writeFile(Buffer.concat([Buffer.from(`${folder}/bad-`), Buffer.from([0xff])]), 'x');
      await rm(join(folder, 'secret'));
    } else {
      await chmod(join(folder, 'secret'), 0);
    }
    const output = join(dir, 'UNREADABLE');

    const run = start([folder, '--output', output, ...at('unreadable')]);

    expect(await run.exit).toBe(1);
    expect(run.out()).toMatch(/ - +4 {2}dead +.*\(E(NOENT|ACCES): /);
    expect(run.out()).toMatch(/^2 files, 4 bytes, .* retried, 1 dead$/m);
    expect(linesOf(await readFile(output, 'utf8'))).toEqual(await referenceOf([join(folder, 'fine')]));
  });

  it('stop at once when they are killed, and exit with 1', async () => {
    const folder = await folderOf('killed', small(5));
    let killed: string | null = null;
    const killFirst: Meddle = async (path, pass) => {
      const [, id] = /jobs\/(\w+)\/progress$/.exec(path) ?? [];
      if (id && killed === null) {
        killed = id;
        await service.call('POST', `/jobs/${id}/kill`, { body: { reason: 'enough' } });
      }
      return pass();
    };

    const run = await withProxy(killFirst, async (url) => {
      const started = start([folder, ...at('killed', url)]);
      await started.exit;
      return started;
    });

    expect(await run.exit).toBe(1);
    expect(run.err()).toBe('');
    expect(run.out()).toMatch(/^5 files, .* 0 dead, 1 killed$/m);
    const { body } = await service.call('GET', `/jobs/${killed}`);
    expect(body.events.at(-1)).toMatchObject({ type: 'killed' });
  });
});

describe('a run that is killed', () => {
  it('leaves no worker behind', async () => {
    const folder = await folderOf('orphaned', small(10));
    await service.call('POST', '/spaces/orphaned/jobs', { body: { name: 'not-for-us' } });
    const run = start([folder, '--workers', '2', ...at('orphaned')]);
    await hasWritten(run, '10 of 10 files');

    process.kill(run.pid, 'SIGKILL');

    // The workers write where the run wrote: this only closes once they are gone as well.
    expect(await run.exit).toBe(null);
  });
});

describe('Ctrl-C', () => {
  it('ends the workers, revokes their key and exits with 130', async () => {
    const folder = await folderOf('interrupted', small(10));
    // No worker takes this one, so the run cannot end by itself.
    await service.call('POST', '/spaces/interrupted/jobs', { body: { name: 'not-for-us' } });
    const run = start([folder, '--workers', '2', ...at('interrupted')]);
    await hasWritten(run, '10 of 10 files');

    process.kill(-run.pid, 'SIGINT');

    expect(await run.exit).toBe(130);
    expect(run.err()).toBe('');
    expect(isGroupAlive(run.pid)).toBe(false);
    expect(await keysOf('interrupted')).toEqual([]);
  });
});

describe('a run that cannot begin', () => {
  const faults: [string, string[], string][] = [
    ['no folder', [], 'Give one folder, not none'],
    ['a folder that is none', ['/does/not/exist'], '/does/not/exist is not a folder'],
    ['no workers', [tmpdir(), '--workers', '0'], '--workers must be a whole number from 1 to 64, not "0"'],
    ['an address of another kind', [tmpdir(), '--url', 'ftp://x'], '--url must begin with http:// or https://'],
    ['an impossible space', [tmpdir(), '--space', 'a b'], '--space must be 1 to 128 characters'],
    ['an unknown option', [tmpdir(), '--wrokers', '2'], "Unknown option '--wrokers'"],
  ];
  it.each(faults)('says what is wrong with %s and exits with 2', async (_, args, sentence) => {
    const run = start(args);
    expect(await run.exit).toBe(2);
    expect(run.err()).toContain(sentence);
  });

  it('says how to start a service that is not there', async () => {
    const run = start([dir, '--url', 'http://127.0.0.1:1', '--key', 'any']);
    expect(await run.exit).toBe(1);
    expect(run.err()).toMatch(
      /^The service is not reachable at http:\/\/127\.0\.0\.1:1 \(.*\): start it with npm start/,
    );
  });

  it('takes the key from the data folder of the service, and names a key that is not accepted', async () => {
    const data = await folderOf('data', { 'admin-key': 'ym_wrong\n' });
    const run = start([dir, '--url', service.url], { DATA_DIR: data, YARDMASTER_API_KEY: '' });
    expect(await run.exit).toBe(1);
    expect(run.err()).toBe('POST /keys was answered with 401: A valid API key is required\n');
  });
});
