import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from '@jest/globals';
import { installed } from '../support/installed.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';

// Run the commands of docs/logs.md in bash, with curl and jq.

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readFileSync(`${root}docs/logs.md`, 'utf8');
const blocks = (language: string) =>
  [...docs.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block]) => block as string);

const service = withService();
let bash: string;
beforeAll(() => {
  for (const program of ['curl', 'jq']) installed(program, program);
  bash = installed('bash', 'bash');
});

/** Run a script as a reader of the docs does. */
async function run(script: string, jobId: string, { args = [] as string[], input = '' } = {}) {
  const env = {
    PATH: process.env.PATH as string,
    JOB: jobId,
    YARDMASTER_URL: service.url,
    YARDMASTER_API_KEY: ADMIN_KEY,
  };
  const child = spawn(bash, ['--norc', '-c', script, 'bash', ...args], { cwd: root, env });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, out, err };
}

const entriesOf = async (jobId: string) =>
  (await service.call('GET', `/jobs/${jobId}/logs?limit=500`)).body.logs as Record<string, unknown>[];

it('the curl commands of docs/logs.md append, read and search logs', async () => {
  const id = await jobIn(service, 'completed', 'docs');
  const [, append = '', page = '', search = '', command = ''] = blocks('sh');

  const appended = await run(append, id);
  expect(appended.err).toBe('');
  expect(appended.out.match(/\{[^}]*\}/g)?.map((response) => JSON.parse(response))).toEqual([
    { success: true, inserted: 2, fromSeq: 1, toSeq: 2 },
    { success: true, inserted: 1, fromSeq: 3, toSeq: 3 },
    { success: true, inserted: 2, fromSeq: 4, toSeq: 5 },
  ]);
  expect((await entriesOf(id)).map(({ level, message }) => `${level} ${message}`)).toEqual([
    'info decoding',
    'warn no color profile',
    'info scaling',
    'info one entry on each line',
    'error disk full',
  ]);

  const shown = JSON.parse((await run(page, id)).out);
  const documented = JSON.parse(blocks('json').find((block) => block.includes('"cursor"')) as string);
  const like = { id: `${id}.5`, loggedAt: expect.any(String), createdAt: expect.any(String) };
  expect(shown).toEqual({ ...documented, logs: documented.logs.map((entry: object) => ({ ...entry, ...like })) });

  expect(JSON.parse((await run(search, id)).out).logs).toEqual([]);
  expect((await run(command, id)).out).toMatch(/^\S+ warn {2}no color profile .*\n\S+ error disk full\n$/);
});

it('the script of docs/logs.md appends the output of a program in batches', async () => {
  const { id } = await createJob(service, 'docs');
  const lines = Array.from({ length: 1_200 }, (_, n) => `line ${n}: "quoted" \\ ${'é'.repeat(n % 50)}`);
  const [script = ''] = blocks('bash');
  const outcome = await run(script, id, { args: [id], input: `${lines.join('\n')}\n\nthe last, without an end` });
  expect(outcome).toEqual({ code: 0, out: '', err: '' });

  const stored: unknown[] = [];
  for (let after = 0, isMore = true; isMore; ) {
    const { logs, cursor } = (await service.call('GET', `/jobs/${id}/logs?limit=500&after=${after}`)).body;
    stored.push(...logs.map(({ message }: { message: string }) => message));
    [after, isMore] = [cursor.newestSeq, cursor.hasMore];
  }
  expect(stored).toEqual([...lines, '', 'the last, without an end']);
});

it('the script of docs/logs.md truncates lines to the size of an entry, and prints errors of the service', async () => {
  const { id } = await createJob(service, 'docs');
  const [script = ''] = blocks('bash');
  const long = ['x', '\u0001'].map((character) => character.repeat(5_000));
  const outcome = await run(script, id, { args: [id], input: `${long.join('\n')}\n` });
  expect(outcome).toEqual({ code: 0, out: '', err: '' });
  expect((await entriesOf(id)).map(({ message }) => message)).toEqual(long.map((line) => line.slice(0, 2_700)));

  const refused = await run(script, 'nobody', { args: ['nobody'], input: 'lost\n' });
  expect(refused.err).toMatch(/logs not stored: {"error":"Job not found","code":"JOB_NOT_FOUND"}\n+404/);
});

it('the script of docs/logs.md resends a batch during any kind of outage of the service', async () => {
  const { id } = await createJob(service, 'docs');
  let requests = 0;
  const away = http.createServer((req, res) => {
    const body: Buffer[] = [];
    req.on('data', (chunk: Buffer) => body.push(chunk));
    req.on('end', async () => {
      requests++;
      if (requests === 1) return req.socket.destroy();
      if (requests === 2) return res.writeHead(503, { 'retry-after': '1' }).end('{"error":"away"}');
      const headers = { ...req.headers, 'content-length': undefined, connection: undefined };
      const response = await service.http.call('POST', req.url as string, { raw: Buffer.concat(body), headers });
      return res.writeHead(response.status).end(response.text);
    });
  });
  away.listen(0, '127.0.0.1');
  await once(away, 'listening');
  const [script = ''] = blocks('bash');
  const url = `http://127.0.0.1:${(away.address() as AddressInfo).port}`;
  const outcome = await run(`YARDMASTER_URL=${url}\n${script}`, id, { args: [id], input: 'kept\n' });
  away.closeAllConnections();
  away.close();
  expect(outcome).toEqual({ code: 0, out: '', err: '' });
  expect(requests).toBe(3);
  expect(await entriesOf(id)).toMatchObject([{ message: 'kept' }]);
});
