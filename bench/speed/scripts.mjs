// The cost of Redis alone: a client that sends the scripts of the verbs in pipelines, without HTTP.

import { createRedis } from '@yardmaster/redis';
import { createLogger } from '@yardmaster/runtime';
import {
  ANY_SPACE,
  ackJob,
  completeJob,
  createJob,
  createStore,
  expireDue,
  heartbeatJob,
  partitionOf,
  pollJobs,
  redisNow,
} from '@yardmaster/store';
import { inBatches, requestOf, upTo } from '../load/verbs.mjs';
import { payloadOf, serve } from '../load/worker.mjs';

const redis = createRedis(process.env.REDIS_URL, 'commands', createLogger('bench', 'error'));
await redis.connect();
const store = createStore(redis, { retentionMs: 1 }); // Ended jobs are due to be purged.

/** Ids of the current jobs, by number: a load may be one verb, which uses the jobs of the verb before. */
const ids = [];

function verbsOf({ payloadBytes, spaces, names }) {
  const payload = payloadOf(payloadBytes);
  const spaceOf = (n) => spaces[n % spaces.length];
  return {
    create: (n) => createJob(store, spaceOf(n), requestOf({ name: `name-${n % names}`, payload })),
    async poll(n) {
      const [job] = (await pollJobs(store, spaceOf(n), { count: 1, names: [] })).jobs;
      ids[n] = job.id;
    },
    ack: (n) => ackJob(store, ANY_SPACE, ids[n]),
    progress: (n) =>
      heartbeatJob(store, ANY_SPACE, ids[n], { kind: 'progress', data: { percent: 50, message: 'half' } }),
    complete: (n) => completeJob(store, ANY_SPACE, ids[n], { ok: true }),
    /** Purge a hundred jobs of the space, as many as a script purges. */
    purge: async (n) => n % 100 === 0 && expireDue(store, partitionOf(spaceOf(n)), await redisNow(store)),
    emptyPoll: (n) => pollJobs(store, spaceOf(n), { count: 1, names: [] }),
  };
}

serve({
  /** @param load.kind `cycle`, or one verb */
  async run({ kind, jobs, clients, ...load }) {
    const { create, poll, ack, complete, ...others } = verbsOf(load);
    const life = { create, poll, ack, complete };
    const steps = kind === 'cycle' ? Object.values(life) : [{ ...life, ...others }[kind]];
    const began = performance.now();
    await inBatches(redis, upTo(jobs), clients, ...steps);
    return { seconds: (performance.now() - began) / 1000 };
  },
});
