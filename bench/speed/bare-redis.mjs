// The least that can be done over HTTP with our scripts: a bare node:http server which calls the store's verbs and
// answers what they return. It has no routes but the end of the path, no keys, scopes, schemas, limits or metrics.
import http from 'node:http';
import { createLogger, createRedis } from '@yardmaster/runtime';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs } from '@yardmaster/store';

const redis = createRedis(process.env.REDIS_URL, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis);

const REQUEST = { maxRetries: 3, timeoutSeconds: 300, callbackUrl: null, callbackHeaders: null };
const done = async (work) => {
  await work;
  return { success: true };
};
const VERBS = {
  jobs: (space, body) => createJob(store, space, { ...REQUEST, ...body }),
  poll: async (space, body) => ({ jobs: await pollJobs(store, space, { count: body.count, names: [] }) }),
  ack: (id) => done(ackJob(store, ANY_SPACE, id)),
  complete: (id, body) => done(completeJob(store, ANY_SPACE, id, body.result)),
};

async function answer(req, res, body) {
  const [, , , , id, ...rest] = req.url.split('/'); // /api/v1/spaces/<id>/jobs/poll
  const text = JSON.stringify(await VERBS[rest.at(-1)](id, body.length > 0 ? JSON.parse(body.toString()) : null));
  const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) };
  res.writeHead(rest.at(-1) === 'jobs' ? 201 : 200, headers);
  res.end(text);
}

const server = http.createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => answer(req, res, Buffer.concat(chunks)));
});
server.keepAliveTimeout = 75_000; // As ours: the clients stay while others have their turns.
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
