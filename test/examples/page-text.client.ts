import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Killed } from '@yardmaster/sdk';
import { run } from '@yardmaster/sdk/testing';
import { until } from '../support/until.js';
import { ExampleRuns, endOf, interrupt, pathOf } from './example-runs.js';

const runs = new ExampleRuns();

const html = (body: string) => ({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body });
const of = (type: string, body: string | Buffer) => ({ status: 200, headers: { 'content-type': type }, body });
const later = (status: number) => ({ status, headers: { 'retry-after': '1' }, body: '' });
type Page = { status: number; headers: http.OutgoingHttpHeaders; body: string | Buffer };

/** The responses to a path in order, of which the last repeats. */
const pages: Record<string, Page[]> = {
  '/one': [html('<title>One</title><script>x < 1</script><p>Caf&#xe9; &amp; <b>b&#97;r</b></p><!-- no -->')],
  '/two': [html('<h1>Two</h1>\n\n<ul><li>a<li>b\n c</ul>')],
  '/latin1': [of('text/plain; charset="iso-8859-1"', Buffer.from([0xe4]))],
  '/busy': [later(503), html('not busy any more')],
  '/limited': [later(429), html('not limited any more')],
  '/gone': [{ status: 404, headers: {}, body: '' }],
  '/large': [html('x'.repeat(3 * 1024 * 1024))],
  '/image': [of('image/png', '')],
};
const requests: string[] = [];
let closed = 0;
const server = http.createServer((request, response) => {
  const path = request.url as string;
  const count = requests.filter((each) => each === path).length;
  requests.push(path);
  response.on('close', () => closed++);
  const page = pages[path]?.[count] ?? pages[path]?.at(-1);
  if (page) response.writeHead(page.status, page.headers).end(page.body);
  else response.writeHead(200, { 'content-type': 'text/html' }).write('<p>The rest does not come');
});

const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
const fetchPages = (space: string, ...urls: string[]) =>
  runs.start(process.execPath, [pathOf('page-text/main.mjs'), '--folder', join(runs.dir, space), ...urls], space);

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterEach(() => {
  requests.length = closed = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('the page-text example stores the text of each page, and the same files when it is rerun', async () => {
  const run = () => endOf(fetchPages('text', url('/one'), url('/two'), url('/latin1')));
  const first = await run();
  expect(first).toMatchObject({ code: 0, err: '' });
  const files = first.out.trim().split('\n');
  const texts = async () => Promise.all(files.map((file) => readFile(file, 'utf8')));
  expect(await texts()).toEqual(['One\nCafé & bar\n', 'Two\na\nb c\n', 'ä\n']);
  expect(await run()).toEqual(first);
  expect(await texts()).toEqual(['One\nCafé & bar\n', 'Two\na\nb c\n', 'ä\n']);
  expect(await readdir(join(runs.dir, 'text'))).toHaveLength(3);
});

it('the page-text example resumes from its checkpoint after a page responds with 503 or 429', async () => {
  const { code, err } = await endOf(fetchPages('busy', url('/one'), url('/busy'), url('/limited')));
  expect([code, err]).toEqual([0, '']);
  expect(requests).toEqual(['/one', '/busy', '/busy', '/limited', '/limited']);
  const [job] = await runs.jobsOf('busy');
  const errors = job.events.filter(({ type }: { type: string }) => type === 'retried');
  expect(errors).toMatchObject([
    { data: { error: { name: 'RetryAfter', message: `${url('/busy')} responded with 503` } } },
    { data: { error: { name: 'RetryAfter', message: `${url('/limited')} responded with 429` } } },
  ]);
});

it('the page-text example resumes the job of an interrupted run from its checkpoint', async () => {
  const run = () => fetchPages('interrupted', url('/one'), url('/late'));
  const first = run();
  await until(() => requests.includes('/late'));
  interrupt(first);
  const err = 'Stopped; the same command continues the job\n';
  expect(await endOf(first)).toEqual({ code: 1, out: '', err });
  pages['/late'] = [html('now it comes')];
  expect(await endOf(run())).toMatchObject({ code: 0, err: '' });
  expect(requests).toEqual(['/one', '/late', '/late']);
  expect(await runs.jobsOf('interrupted')).toMatchObject([{ status: 'completed', attemptNumber: 1 }]);
});

it.each([
  ['/gone', 'responded with 404'],
  ['/large', 'has more than 2097152 bytes'],
  ['/image', 'is not a text page; its type is image/png'],
])('the page-text example exits with 1 and makes the job dead immediately for %s', async (path, reason) => {
  const space = `refused-${path.slice(1)}`;
  const { code, err } = await endOf(fetchPages(space, url(path)));
  expect([code, err]).toEqual([1, expect.stringContaining(`The job is dead: NonRetryable: ${url(path)} ${reason}`)]);
  expect(requests).toEqual([path]);
  expect(await runs.jobsOf(space)).toMatchObject([{ status: 'dead', attemptNumber: 1 }]);
  expect(await readdir(join(runs.dir, space))).toEqual([]);
});

it('the page-text example fetches nothing when a URL is neither http nor https', async () => {
  const { code, err } = await endOf(fetchPages('scheme', url('/one'), 'file:///etc/passwd'));
  expect([code, err]).toEqual([1, 'The job is dead: NonRetryable: Not an http or https URL: file:///etc/passwd\n']);
  expect(requests).toEqual([]);
});

it('the page-text example ends its request when the job is killed', async () => {
  const { storePages } = await import(pathOf('page-text/store-pages.mjs'));
  const kill = new AbortController();
  const done = run(storePages(join(runs.dir, 'killed')), { urls: [url('/endless')] }, { signal: kill.signal });
  await until(() => requests.length === 1);
  kill.abort(new Killed());
  expect(await done).toMatchObject({ status: 'failed', error: { name: 'Killed' }, checkpoints: [] }); // Not the timeout.
  await until(() => closed === requests.length);
  expect(await readdir(join(runs.dir, 'killed'))).toEqual([]);
});

it('the page-text example fails an attempt whose response is not complete in time', async () => {
  const { fetchPage } = await import(pathOf('page-text/fetch-page.mjs'));
  const page = fetchPage(new URL(url('/endless')), new AbortController().signal, { timeoutMs: 200 });
  await expect(page).rejects.toThrow(`${url('/endless')}: no complete response within 0.2 s`);
});

it('the page-text example exits with 1 and the reason when it gets no URL', async () => {
  expect(await endOf(fetchPages('none'))).toEqual({ code: 1, out: '', err: 'Give one URL or more\n' });
});
