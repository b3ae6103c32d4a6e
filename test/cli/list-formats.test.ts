import { afterEach, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { serve, stopServing } from './fake-service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';

afterEach(stopServing);

const CREATED = '2020-01-31T09:30:00.000Z';
const AT_LEAST = { maxRetries: 3, attemptNumber: 0, createdAt: CREATED };
const DEAD = {
  ...AT_LEAST,
  id: 'j1',
  status: 'dead',
  name: 'resize, "crop"',
  attemptNumber: 4,
  tags: ['eu', 'big'],
  priority: -5,
  progress: { percent: 40, message: 'Reading' },
  error: { name: 'Error', message: 'disk full\nsecond line', causes: [{ name: 'Cause', message: 'no space left' }] },
};
const ERROR = 'Error: disk full second line (cause: Cause: no space left)';
const RUNNING = { ...AT_LEAST, id: 'j2', status: 'running', name: 'crop', attemptNumber: 1, workerId: 'web-3' };

/** List jobs of a service that returns each of these in a page, and return what the command prints. */
async function list(jobs: object[], args: string[], out = {}) {
  const { url } = await serve((_, response, nth) => {
    if (nth + 1 < jobs.length) response.setHeader('x-next-cursor', nth);
    response.end(JSON.stringify(jobs.slice(nth, nth + 1)));
  });
  const run = yardmasterHere(['jobs', ...args, '--url', url, '--token', 'k', '--space', 's'], {}, { out });
  return { code: await run.exit(), out: run.out(), err: run.err() };
}

it('lists jobs in a table with attempt, worker and the error on one line', async () => {
  const createdAt = new Date(Date.now() - 725_000).toISOString();
  const { code, out, err } = await list(
    [DEAD, RUNNING].map((job) => ({ ...job, createdAt })),
    [],
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(
    [
      'ID  STATUS   NAME            AGE  ATTEMPT  WORKER  ERROR',
      `j1  dead     resize, "crop"  12m      4/4  -       ${ERROR}`,
      'j2  running  crop            12m      1/4  web-3   -',
      '',
    ].join('\n'),
  );
});

it.each([
  [45.9, '45s'],
  [60, '1m'],
  [3_599, '59m'],
  [7_200, '2h'],
  [5 * 86_400 + 3_600, '5d'],
  [-30, '0s'],
])('shows the age of a job that was created %d s ago as %s', async (seconds, age) => {
  const createdAt = new Date(Date.now() - seconds * 1_000).toISOString();
  const { out } = await list([{ ...RUNNING, createdAt }], []);
  expect(out.split('\n')[1]).toMatch(new RegExp(` crop +${age} `));
});

it('cuts only the error to the width of a terminal, and omits empty columns', async () => {
  const { out } = await list([DEAD], [], { isTTY: true, columns: 60 });
  const [titles = '', line = ''] = out.split('\n');
  expect(titles).toMatch(/^ID +STATUS +NAME +AGE +ATTEMPT +ERROR$/);
  expect(line).toMatch(/^j1 +dead +resize, "crop" +\d+d +4\/4 +Error: disk.*…$/);
  expect(line).toHaveLength(60);
});

it('wraps a line if its other columns are wider than the terminal', async () => {
  const { out } = await list([{ ...DEAD, workerId: 'w'.repeat(150) }], [], { isTTY: true, columns: 80 });
  const [, line = ''] = out.split('\n');
  expect(line).toContain('w'.repeat(150));
  expect(line).toMatch(/ Error: .*…$/);
  expect(line).toHaveLength(240);
});

it('lists jobs with -o wide with progress, priority, tags and creation', async () => {
  const { out } = await list([DEAD], ['-o', 'wide']);
  const [titles = '', line = ''] = out.split('\n');
  expect(titles).toMatch(/WORKER +PROGRESS +PRIORITY +TAGS +CREATED +ERROR$/);
  expect(line).toMatch(new RegExp(`- +40% Reading +-5 +eu,big +${CREATED} +Error: disk full`));
});

it('lists jobs with -o csv as quoted values below a header', async () => {
  const { code, out, err } = await list([DEAD, RUNNING], ['-o', 'csv']);
  expect([code, err]).toEqual([0, '']);
  expect(out.replaceAll(/,\d+d,/g, ',AGE,')).toBe(
    [
      'ID,STATUS,NAME,AGE,ATTEMPT,WORKER,PROGRESS,PRIORITY,TAGS,CREATED,ERROR',
      `j1,dead,"resize, ""crop""",AGE,4/4,,40% Reading,-5,"eu,big",${CREATED},${ERROR}`,
      `j2,running,crop,AGE,1/4,web-3,,,,${CREATED},`,
      '',
    ].join('\n'),
  );
});

it.each(['json', 'yaml'])('lists all fields of jobs with -o %s, safe to print', async (format) => {
  const texts = [
    'no',
    '1e5',
    '# x',
    '- y',
    '',
    'a\n    at b',
    'x\u202ey\u009b31m',
    '\u001b[31m',
    '\u2028',
    'ü',
    'ends\n\n',
  ];
  const payload = { 'b\u202e': { empty: {}, list: [[1, null, true]] }, texts };
  const jobs = [{ ...DEAD, payload }, RUNNING];
  const { out } = await list(jobs, ['-o', format]);
  const documents = format === 'json' ? out.trimEnd().split('\n') : out.split(/^---\n/m).slice(1);
  // Readers of YAML 1.1 take more texts for other values.
  for (const version of ['1.1', '1.2'] as const) {
    expect(documents.map((text) => parse(text, { version }))).toEqual(jobs);
  }
  expect(out).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}]/u);
});

it('prints a stack trace with -o yaml as lines', async () => {
  const stack = 'at resize (a.js:1)\nat run (b.js:2)';
  const { out } = await list([{ ...DEAD, error: { name: 'Error', message: 'x', stack } }], ['-o', 'yaml']);
  expect(out).toContain('  stack: |-\n    at resize (a.js:1)\n    at run (b.js:2)\n');
});

it.each([[[]], [['-o', 'wide']], [['--json']], [['-o', 'yaml']]])(
  'prints to stderr that there are no jobs, with %j',
  async (args) => {
    expect(await list([], args)).toEqual({ code: 0, out: '', err: 'no jobs found\n' });
  },
);

const service = withService();

it('jobs shows the worker only while it holds the job', async () => {
  const env = { ...asAdmin(service), YARDMASTER_SPACE: 'list-worker' };
  await service.call('POST', '/spaces/list-worker/jobs', { body: { name: 'work' } });
  const { body } = await service.call('POST', '/spaces/list-worker/jobs/poll', { body: { workerId: 'web-3' } });
  const row = async () => (await yardmasterHere(['jobs'], env).end())[1][1];
  expect(await row()).toMatch(/ delivered .* web-3 /);
  const [{ id }] = body.jobs;
  await service.call('POST', `/jobs/${id}/release`);
  expect(await row()).toMatch(/ pending .* - +-$/);
  await jobIn(service, 'dead', 'list-worker');
  expect(await row()).toMatch(/ dead .* - +broken$/);
});
