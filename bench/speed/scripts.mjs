// What Redis alone takes: a client that sends the scripts of the verbs in pipelines, without HTTP.
import { createLogger, createRedis } from '@yardmaster/runtime';
import { ANY_SPACE, ackJob, completeJob, createJob, createStore, pollJobs } from '@yardmaster/store';
import { inBatches } from '../meter.mjs';

const redis = createRedis(process.env.REDIS_URL, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis);

async function run({ jobs, clients, payloadBytes, spaces, names }) {
  const payload = { text: 'x'.repeat(Math.max(0, payloadBytes - '{"text":""}'.length)) };
  const common = { payload, maxRetries: 3, timeoutSeconds: 300, callbackUrl: null, callbackHeaders: null };
  const spaceOf = (n) => spaces[n % spaces.length];
  const numbers = Array.from({ length: jobs }, (_, n) => n);
  const ids = [];
  const began = performance.now();
  await inBatches(
    redis,
    numbers,
    clients,
    (n) => createJob(store, spaceOf(n), { name: `name-${n % names}`, ...common }),
    async (n) => {
      const [job] = await pollJobs(store, spaceOf(n), { count: 1, names: [] });
      ids[n] = job.id;
    },
    (n) => ackJob(store, ANY_SPACE, ids[n]),
    (n) => completeJob(store, ANY_SPACE, ids[n], { ok: true }),
  );
  return { seconds: (performance.now() - began) / 1000 };
}

process.on('message', async (load) => {
  process.send(await run(load).catch((error) => ({ error: String(error) })));
});
