import { expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { yardmasterHere } from './in-process.js';
import { asAdmin } from './logs.js';

const service = withService();

const here = (...args: string[]) => yardmasterHere(args, asAdmin(service)).end();

it('shows the settings of a space, and changes them', async () => {
  expect(await here('settings', 'cli-set')).toEqual([0, ['nothing is set'], '']);
  const retry = 'defaults.retry={"delaySeconds":[1,2]}';
  const set = ['maxPending=5', 'retention.deadSeconds=60', retry, 'anonymousStreams=false'];
  const lines = [
    'anonymousStreams false',
    'defaults.retry {"delaySeconds":[1,2]}',
    'maxPending 5',
    'retention.deadSeconds 60',
  ];
  const [code, shown] = await here('settings', 'cli-set', ...set.flatMap((one) => ['--set', one]));
  expect([code, shown.sort()]).toEqual([0, lines]);
  await here('settings', 'cli-set', '--unset', 'defaults', '--unset', 'retention.deadSeconds', '--set', 'maxPending=6');
  const [, [json = '']] = await here('settings', 'cli-set', '--json');
  expect(JSON.parse(json)).toEqual({ maxPending: 6, anonymousStreams: false });
});

it('refuses a misspelled setting and suggests the right name', async () => {
  expect(await here('settings', 'cli-set', '--set', 'maxPendin=5')).toEqual([
    1,
    [],
    'yardmaster: unknown field maxPendin, did you mean maxPending?\n',
  ]);
  const [code, , err] = await here('settings', 'cli-set', '--set', '__proto__.x=5');
  expect([code, err]).toEqual([1, 'yardmaster: unknown field __proto__\n']);
});

it.each([
  ['--unset maxPending --set maxPending=1', 'maxPending must be given only once, with --set or --unset'],
  ['--set maxPending=1 --set maxPending=2', 'maxPending must be given only once, with --set or --unset'],
  ['--set defaults.maxRetries=1 --unset defaults', 'defaults.maxRetries must not be given together with defaults'],
  ['--set defaults={} --set defaults.maxRetries=1', 'defaults.maxRetries must not be given together with defaults'],
])('refuses options that name one setting twice: %s', async (flags, error) => {
  expect(await here('settings', 'cli-twice', ...flags.split(' '))).toEqual([2, [], expect.stringContaining(error)]);
});

it('pauses and resumes a space or some of its names, and shows in the statistics what is paused', async () => {
  await createJob(service, 'cli-pause', { name: 'resize' });
  const claimable = async () => (await service.call('POST', '/spaces/cli-pause/jobs/poll')).body.jobs.length;
  expect(await here('pause', 'cli-pause', '--name', 'resize', '--name', 'crop')).toEqual([
    0,
    ['paused resize, crop in cli-pause'],
    '',
  ]);
  expect((await here('stats', '--space', 'cli-pause'))[1]).toContain('paused: crop, resize');
  expect((await here('settings', 'cli-pause'))[1]).toEqual(['paused ["crop","resize"]']);
  expect(await here('pause', 'cli-pause')).toEqual([0, ['paused cli-pause'], '']);
  expect((await here('stats', '--space', 'cli-pause'))[1]).toContain('paused: the whole space');
  expect(await claimable()).toBe(0);
  expect(await here('resume', 'cli-pause', '--name', 'crop')).toEqual([
    0,
    ['resumed crop in cli-pause'],
    'the whole space is still paused; end that with: yardmaster resume cli-pause\n',
  ]);
  expect(await here('resume', 'cli-pause')).toEqual([0, ['resumed cli-pause'], '']);
  expect(await claimable()).toBe(1);
  expect(await here('resume', 'cli-pause', '--name', 'crop')).toEqual([0, ['resumed crop in cli-pause'], '']);
});
