import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { append, toldTo } from './logs.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let id: string;
const clients: StreamClient[] = [];
const open = async (path: string) => {
  const client = await StreamClient.open(service.url, path);
  clients.push(client);
  return client;
};
beforeEach(async () => {
  id = await jobIn(service, 'running', 'garbage');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** Text of a message that whoever has Redis could publish; `data` is JSON text, undefined for none. */
const messageWith = (data: string | undefined) =>
  `{"seq":null,"jobId":"${id}","jobName":"work","spaceId":"garbage","type":"logs_appended","status":"running",${
    data === undefined ? '' : `"data":${data},`
  }"at":1}`;

it.each([
  ['no data', undefined],
  ['null', 'null'],
  ['a text', '"1"'],
  ['an array', '[1,1,1]'],
  ['an empty object', '{}'],
  ['no first seq', '{"toSeq":1,"count":1}'],
  ['no last seq', '{"fromSeq":1,"count":1}'],
  ['no count', '{"fromSeq":1,"toSeq":1}'],
  ['texts', '{"fromSeq":"1","toSeq":"1","count":"1"}'],
  ['nulls', '{"fromSeq":null,"toSeq":null,"count":null}'],
  ['negative seqs', '{"fromSeq":-2,"toSeq":-1,"count":2}'],
  ['seqs from zero on', '{"fromSeq":0,"toSeq":1,"count":2}'],
  ['fractions', '{"fromSeq":0.5,"toSeq":1.5,"count":2}'],
  ['an end before the beginning', '{"fromSeq":3,"toSeq":1,"count":3}'],
  ['an end before the beginning, and their difference', '{"fromSeq":3,"toSeq":1,"count":-1}'],
  ['no entries', '{"fromSeq":2,"toSeq":1,"count":0}'],
  ['a count that is a text', '{"fromSeq":1,"toSeq":2,"count":"2"}'],
  ['another count', '{"fromSeq":1,"toSeq":2,"count":7}'],
  ['seqs beyond what is exact', '{"fromSeq":1,"toSeq":1e300,"count":1e300}'],
])('survives a message of logs with %s', async (_, data) => {
  const [job, space] = [await open(`/${id}?token=${ADMIN_KEY}`), await open(`/spaces/garbage?token=${ADMIN_KEY}`)];
  await open(`/${id}`);
  await service.redis.publish(service.store.keys.jobChannel(id), messageWith(data));
  await service.redis.publish(service.store.keys.spaceChannel('garbage'), messageWith(data));
  await append(service, id, 3);
  await service.call('POST', `/jobs/${id}/event`, { body: 'after' });
  for (const client of [job, space]) {
    await client.next('event');
    expect(client.types()).toEqual(['init', 'logs_appended', 'event']);
    expect(toldTo(client)).toEqual([1, 2, 3]);
  }
});
