import { expect, it } from '@jest/globals';
import { jobIn, step } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { scrape } from './scrape.js';

const service = withService();

it('counts calls without a delivery token that take effect in a later attempt', async () => {
  const id = await jobIn(service, 'running', 'unfenced');
  for (const verb of ['fail', 'claim', 'ack'])
    await step(service, id, verb, verb === 'fail' ? { error: 'no' } : undefined);
  const unfenced = async () => (await scrape(service)).get('yardmaster_unfenced_calls_total') as number;
  const before = await unfenced();
  const headers = { 'x-delivery-token': '1.0' };
  expect((await service.call('POST', `/jobs/${id}/keepalive`, { headers })).status).toBe(200);
  expect((await service.call('POST', `/jobs/${id}/ack`)).status).toBe(409); // Refused, so it has no effect.
  expect(await unfenced()).toBe(before);
  for (const verb of ['keepalive', 'checkpoint', 'complete']) await step(service, id, verb, {});
  expect(await unfenced()).toBe(before + 3);
});
