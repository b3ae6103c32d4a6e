import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { jobIn } from '../support/jobs.js';
import { ADMIN_KEY } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';
import { holdCommand, holdReply, type LateReplies, startLateReplies } from './late-replies.js';
import { append, toldTo } from './logs.js';

// Moments that are too short to be hit by chance are held open here.

let late: LateReplies;
beforeAll(async () => {
  late = await startLateReplies();
});
afterAll(() => late.stop());

let id: string;
const clients: StreamClient[] = [];
beforeEach(async () => {
  id = await jobIn(late.service, 'running', 'race');
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const post = (verb: string, body?: unknown) => late.service.call('POST', `/jobs/${id}/${verb}`, { body });

async function open(): Promise<StreamClient> {
  const client = await StreamClient.open(late.url, `/${id}?token=${ADMIN_KEY}`);
  clients.push(client);
  return client;
}

it('tells of logs that come between the snapshot and its reply, though nothing comes after them', async () => {
  await append(late.service, id, 2);
  holdReply(late.backend.store.redis, 'evalsha', async () => {
    await append(late.service, id, 3);
    await late.untilHeard();
  });
  const client = await open();
  await until(() => toldTo(client).length > 0);
  expect(toldTo(client)).toEqual([3, 4, 5]);
});

it('does not tell of logs that the snapshot has, though their message came after the stream was opened', async () => {
  holdCommand(late.backend.store.redis, 'evalsha', async () => {
    await append(late.service, id, 3);
    await late.untilHeard();
  });
  const client = await open();
  await append(late.service, id, 1);
  await until(() => toldTo(client).length > 0);
  expect(toldTo(client)).toEqual([4]);
});

it('tells of logs and then of the end when both come between the snapshot and its reply', async () => {
  holdReply(late.backend.store.redis, 'evalsha', async () => {
    await append(late.service, id, 3);
    await post('complete', { result: 'last' });
    await late.untilHeard();
  });
  const client = await open();
  await client.next('completed');
  expect(client.types()).toEqual(['init', 'logs_appended', 'completed']);
  expect(toldTo(client)).toEqual([1, 2, 3]);
});

it('tells of logs that were missed when the connection is lost while the snapshot is read', async () => {
  const { service, backend } = late;
  holdReply(backend.store.redis, 'evalsha', async () => {
    await service.redis.pipeline().call('CLIENT', 'KILL', 'TYPE', 'pubsub').exec();
    await append(service, id, 3);
    await until(() => backend.subscriptions.hears(service.store.keys.jobChannel(id)));
  });
  const client = await open();
  await until(() => toldTo(client).length > 0);
  expect(toldTo(client)).toEqual([1, 2, 3]);
});
