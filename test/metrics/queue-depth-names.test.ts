import { expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '@yardmaster/runtime';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';
import { scrape } from './scrape.js';

const QUEUE_DEPTH_NAMES = 'always/a%2C b, always/none,other/é/1';
const service = withService({ QUEUE_DEPTH_NAMES, METRICS_SPACES: '1' }, { isOwn: true });

it('shows the pending jobs of each name in QUEUE_DEPTH_NAMES, even 0, in addition to those of the space', async () => {
  const shown = async () => {
    const all = [...(await scrape(service))].filter(([series]) => series.startsWith('yardmaster_queue_depth'));
    return Object.fromEntries(all.map(([series, value]) => [series.slice('yardmaster_queue_depth'.length), value]));
  };
  const names = { '{space="always",name="none"}': 0, '{space="other",name="é/1"}': 0 };
  expect(await shown()).toEqual({ '{space="always",name="a, b"}': 0, ...names });
  for (const fields of [{}, {}, { delaySeconds: 60 }]) {
    await createJob(service, 'always', { name: 'a, b', ...fields });
  }
  await jobIn(service, 'delivered', 'always', { name: 'a, b' });
  await createJob(service, 'always', { name: 'not configured' });
  const expected = { '{space="always",name="a, b"}': 2, ...names, '{space="always"}': 3 };
  // A scrape may show values that are a second old.
  await until(async () => Object.values(await shown()).includes(3));
  expect(await shown()).toEqual(expected);
});

it.each(['demo', 'demo/', '/name', 'a b/name', 'demo/%', 'demo/a,', `demo/${'x'.repeat(129)}`, 'd/n,'.repeat(100)])(
  'refuses %s as the value of QUEUE_DEPTH_NAMES',
  (value) => {
    const read = () => readConfig({ QUEUE_DEPTH_NAMES: value }, ['QUEUE_DEPTH_NAMES']);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow('QUEUE_DEPTH_NAMES must be a comma-separated list of at most 100 entries such as demo/resize');
  },
);
