import { afterEach, describe, expect, it } from '@jest/globals';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';
import { read } from './worker.js';
import { endAll, hasTerminals, yardmasterOnTerminal } from './yardmaster.js';

const service = withService();
afterEach(endAll);

/** Run a command for a user who answers its questions with this text. */
async function answer(text: string, ...args: string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return text;
  };
  const [code, lines, err] = await yardmasterHere(args, asAdmin(service), { ask }).end();
  return { code, lines, err, questions };
}

const DECLINED = { code: 1, lines: [], err: 'yardmaster: nothing was changed\n' };
const DELETE = ['operations', 'start', 'delete', '--status', 'dead', '--wait'];
const totalIn = async (spaceId: string) => (await service.call('GET', `/spaces/${spaceId}/jobs`)).body.length;

it('operations start counts the jobs, asks, and changes them only after a yes', async () => {
  for (let i = 0; i < 2; i++) await jobIn(service, 'dead', 'sure');
  const questions = ['Delete 2 jobs in sure? [y/N] '];
  for (const text of ['', 'n', 'no', 'x']) {
    expect(await answer(text, ...DELETE, '--space', 'sure')).toEqual({ ...DECLINED, questions });
  }
  expect(await totalIn('sure')).toBe(2);
  expect(await answer('Y', ...DELETE, '--space', 'sure')).toMatchObject({ code: 0, questions });
  expect(await totalIn('sure')).toBe(0);
});

it.each([['--dry-run'], ['--yes'], ['-y']])('operations start %s does not ask', async (option) => {
  await jobIn(service, 'dead', `sure${option}`);
  const { code, lines, questions } = await answer('n', ...DELETE, '--space', `sure${option}`, option);
  expect([code, questions]).toEqual([0, []]);
  expect(lines).toEqual([expect.stringContaining(option === '--dry-run' ? '1 would be changed' : '1 changed')]);
});

it.each([
  ['kill', 'Kill', 'pending', 'killed'],
  ['requeue', 'Requeue', 'dead', 'pending'],
] as const)('%s asks before it changes several jobs', async (command, verb, before, after) => {
  const ids = [await jobIn(service, before, 'several'), await jobIn(service, before, 'several')];
  const questions = [`${verb} 2 jobs? [y/N] `];
  expect(await answer('n', command, ...ids)).toEqual({ ...DECLINED, questions });
  for (const id of ids) expect(await read(service, id)).toMatchObject({ status: before });
  expect(await answer('yes', command, ...ids)).toMatchObject({ code: 0, questions });
  for (const id of ids) expect(await read(service, id)).toMatchObject({ status: after });
});

it('delete does not ask for one job, with --yes, or in a script', async () => {
  const dead = () => jobIn(service, 'dead', 'unasked');
  expect(await answer('n', 'delete', await dead())).toMatchObject({ code: 0, questions: [] });
  expect(await answer('n', 'delete', await dead(), await dead(), '--yes')).toMatchObject({ code: 0, questions: [] });
  expect(await yardmasterHere(['delete', await dead(), await dead()], asAdmin(service)).exit()).toBe(0);
});

(hasTerminals ? describe : describe.skip)('on a terminal', () => {
  it.each([
    ['y', 'killed'],
    ['n', 'pending'],
  ])('kill reads the answer %s from the terminal', async (text, status) => {
    const [first, second] = [await createJob(service, 'typed'), await createJob(service, 'typed')];
    const run = yardmasterOnTerminal(`kill ${first.id} ${second.id}`, asAdmin(service));
    await run.shows('Kill 2 jobs? [y/N] ');
    run.child.stdin?.write(`${text}\n`);
    expect(await run.exit()).toBe(status === 'killed' ? 0 : 1);
    expect(await read(service, second.id)).toMatchObject({ status });
  });

  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['Ctrl-D', '\u0004', 1],
  ])('%s at the question changes nothing', async (_, key, code) => {
    const [first, second] = [await createJob(service, 'keys'), await createJob(service, 'keys')];
    const run = yardmasterOnTerminal(`kill ${first.id} ${second.id}`, asAdmin(service));
    await run.shows('Kill 2 jobs? [y/N] ');
    run.child.stdin?.write(key);
    expect(await run.exit()).toBe(code);
    expect(await read(service, first.id)).toMatchObject({ status: 'pending' });
  });
});
