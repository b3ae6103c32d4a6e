// The simplest HTTP server for the store: a bare node:http server that calls the store's verbs and sends their results. It
// dispatches on the end of the path, and has no keys, scopes, schemas, limits or metrics.

import { createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs } from '@yardmaster/store';
import { requestOf } from '../load/verbs.mjs';
import { serveBare } from './bare-server.mjs';

const redis = createRedis(process.env.REDIS_URL, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis);

const done = async (work) => {
  await work;
  return { success: true };
};
const VERBS = {
  jobs: async (space, body) => (await createJob(store, space, requestOf(body))).job,
  poll: async (space, body) => ({ jobs: (await pollJobs(store, space, { count: body.count, names: [] })).jobs }),
  ack: (id) => done(ackJob(store, ANY_SPACE, id)),
  complete: (id, body) => done(completeJob(store, ANY_SPACE, id, body.result)),
};

serveBare(async (url, body) => {
  const [, , , , id, ...rest] = url.split('/'); // /api/v1/spaces/<id>/jobs/poll
  const verb = rest.at(-1);
  const text = JSON.stringify(await VERBS[verb](id, body.length > 0 ? JSON.parse(body.toString()) : null));
  return { text, status: verb === 'jobs' ? 201 : 200 };
});
