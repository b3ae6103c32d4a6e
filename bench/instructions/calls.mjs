// The calls whose instructions are counted. Each runs on a Redis with the jobs that it needs, and with others.
import { inGroups } from '@yardmaster/api';
import { listJobsQuery } from '@yardmaster/protocol';
import * as verbs from '@yardmaster/store';
import { requestOf, upTo } from '../load/verbs.mjs';

const { ANY_SPACE } = verbs;
const SPACE = 'bench';
const PARTITION = verbs.partitionOf(SPACE);

const CALLBACK = { callbackUrl: 'https://example.com/callback' };
const UNIQUE = { until: 'ended', onConflict: 'return', ttlSeconds: null };
const DATA = { step: 3, text: 'x'.repeat(60) };
const RESULT = { ok: true };
const LOGS = upTo(10).map((n) => verbs.packLog({ message: `line ${n} of a log, as long as such a line often is` }));

async function create(store, count, fields) {
  const packed = upTo(count).map(() => verbs.packJob(SPACE, requestOf(fields), null));
  return (await verbs.createJobs(store, SPACE, packed, { idempotencyKey: null, inTurn: (run) => run() })).jobs;
}

const poll = async (store, count) => (await verbs.pollJobs(store, SPACE, { count, names: [] })).jobs;
const workerOf = ({ deliveryToken }) => ({ spaceId: null, deliveryToken });
const ack = (store, job) => verbs.ackJob(store, workerOf(job), job.id);
const complete = (store, job) => verbs.completeJob(store, workerOf(job), job.id, RESULT);
const fail = (store, job, how) => verbs.failJob(store, workerOf(job), job.id, { error: 'no', ...how });
const kill = (store, { id }) => verbs.killJob(store, ANY_SPACE, id, 'not needed');
const begin = (store, { id }) => verbs.beginCallback(store, { jobId: id, series: 0 });
const createWith = (store, fields, key = null) => verbs.createJob(store, SPACE, requestOf(fields), key);
const expire = async (store) => verbs.expireDue(store, PARTITION, await verbs.redisNow(store));
const promote = async (store) => verbs.promoteDue(store, PARTITION, await verbs.redisNow(store));
const relay = (store) => verbs.relayCallbacks(store, PARTITION);

function settle(store, jobs, poll) {
  const outcomeOf = ({ id: jobId, deliveryToken }) => ({ action: 'complete', jobId, deliveryToken, result: RESULT });
  return verbs.settleAndPoll(store, SPACE, { settle: jobs.map(outcomeOf), poll, refusalOf: () => null });
}

/** Functions that prepare jobs in a status, given the fields of their requests. */
const waiting = (fields) => (store, count) => create(store, count, fields);
const delivered = (fields) => async (store, count) => {
  await create(store, count, fields);
  return poll(store, count);
};
/** Prepare jobs and make a call for each, sequentially. @param from prepares the jobs */
const after = (from, call) => async (store, count) => {
  const jobs = await from(store, count);
  for (const job of jobs) await call(store, job);
  return jobs;
};
const running = (fields) => after(delivered(fields), ack);
const completed = (fields) => after(running(fields), complete);
const killed = (fields) => after(waiting(fields), kill);

async function begun(store, count) {
  const attempts = [];
  for (const job of await completed(CALLBACK)(store, count)) attempts.push(await begin(store, job));
  return attempts;
}

function record(store, { jobId, lease, url, attempt }) {
  const data = { url, attempt, willRetry: false, statusCode: 200 };
  return verbs.recordCallback(store, { jobId, series: 0 }, { lease, type: 'callback_sent', data, retryMs: null });
}

/** Prepare jobs whose windows and retention end immediately. */
const overAtOnce = (prepare) => (store, count) =>
  prepare({ ...store, settings: { ...store.settings, deliveryTimeoutMs: 1, retentionMs: 1 } }, count);

/** Create the row of a call by the worker of a running job. */
const work = (call, fields) => ({ prepare: running(fields), call });
const beat = (kind, data) => work((store, job) => verbs.heartbeatJob(store, workerOf(job), job.id, { kind, data }));

async function liveFourCalls(store, withToken) {
  await verbs.createJob(store, SPACE, requestOf());
  const [{ id, deliveryToken }] = await poll(store, 1);
  const job = { id, deliveryToken: withToken ? deliveryToken : null };
  await ack(store, job);
  await complete(store, job);
}

/** Run a job in two calls: in the second, a worker settles the previous job and gets the next. */
async function liveTwoCalls(store, running) {
  await verbs.createJob(store, SPACE, requestOf());
  await settle(store, [running], { count: 1, names: [], autoAck: true });
}

/** Prepare a running and a delivered job for each job of a call. */
async function underWay(store, count) {
  const started = await running()(store, count);
  const claimed = await delivered()(store, count);
  return started.map((job, i) => ({ running: job, delivered: claimed[i] }));
}

/** Run jobs in single calls that arrive at the same moment. */
const liveAtOnce = (store, jobs) =>
  Promise.all(
    jobs.flatMap(({ running, delivered }) => [
      verbs.createJob(store, SPACE, requestOf()),
      poll(store, 1),
      ack(store, delivered),
      complete(store, running),
    ]),
  );

/** Run jobs in two calls with many jobs each. */
async function liveInLists(store, jobs) {
  await create(store, jobs.length);
  await settle(store, jobs, { count: jobs.length, names: [], autoAck: true });
}

/**
 * Calls by name.
 *
 * @param jobs number of jobs per call. Default 1
 * @param prepare creates the jobs of all calls
 * @param call makes the call, given the store, its job or jobs, and its number
 */
export const CALLS = {
  'four calls of a job': { call: (store) => liveFourCalls(store, true) },
  'four calls of a job, no token': { call: (store) => liveFourCalls(store, false) },
  'four calls of each of 4 jobs, in a group': {
    jobs: 4,
    prepare: underWay,
    call: (store, jobs) => liveAtOnce(inGroups(store), jobs),
  },
  'two calls of a job': work(liveTwoCalls),
  'two calls of 50 jobs': { ...work(liveInLists), jobs: 50 },
  create: { call: (store) => verbs.createJob(store, SPACE, requestOf()) },
  'create, idempotency key': { call: (store, _, n) => createWith(store, {}, `key ${n}`) },
  'create again, idempotency key': { call: (store) => createWith(store, {}, 'key') },
  'create, unique key': { call: (store, _, n) => createWith(store, { unique: { ...UNIQUE, key: `key ${n}` } }) },
  'create, two tags': { call: (store) => createWith(store, { tags: ['customer:42', 'urgent'] }) },
  'create, delay': { call: (store) => createWith(store, { delaySeconds: 3_600 }) },
  'create 50 jobs': { jobs: 50, call: (store) => create(store, 50) },
  'poll 1 job': { prepare: waiting(), call: (store) => poll(store, 1) },
  'poll 10 jobs': { jobs: 10, prepare: waiting(), call: (store) => poll(store, 10) },
  // Different spaces, because Redis may hash one of them to a place where the search takes longer.
  'poll an empty space': { call: (store, _, n) => verbs.pollJobs(store, `empty-${n}`, { count: 1, names: [] }) },
  claim: { prepare: waiting(), call: (store, { id }) => verbs.claimJob(store, ANY_SPACE, id) },
  ack: { prepare: delivered(), call: ack },
  keepalive: beat('keepalive'),
  progress: beat('progress', { percent: 50, message: 'half' }),
  checkpoint: beat('checkpoint', DATA),
  event: beat('event', DATA),
  'append 10 logs': work((store, { id }) => verbs.appendLogs(store, ANY_SPACE, id, LOGS)),
  complete: work(complete),
  'complete, callback': work(complete, CALLBACK),
  'complete 50 jobs': { jobs: 50, prepare: running(), call: (store, jobs) => settle(store, jobs, null) },
  'fail, pending again': work((store, job) => fail(store, job)),
  'fail, dead': work((store, job) => fail(store, job, { retryable: false })),
  release: work((store, job) => verbs.releaseJob(store, workerOf(job), job.id, {})),
  kill: work(kill),
  requeue: {
    prepare: killed(),
    call: (store, { id }) => verbs.requeueJob(store, ANY_SPACE, id, { delaySeconds: null }),
  },
  reschedule: {
    prepare: waiting(),
    call: (store, { id }) => verbs.rescheduleJob(store, ANY_SPACE, id, { scheduledFor: null, delaySeconds: 3_600 }),
  },
  delete: { prepare: killed(), call: (store, { id }) => verbs.deleteJob(store, ANY_SPACE, id) },
  copy: { prepare: completed(), call: (store, { id }) => verbs.copyJob(store, ANY_SPACE, id, {}) },
  'time out 100 deliveries': { jobs: 100, prepare: overAtOnce(delivered()), call: expire },
  'time out 100 attempts': { jobs: 100, prepare: running({ timeoutSeconds: 0.001 }), call: expire },
  'purge 100 jobs': { jobs: 100, prepare: overAtOnce(killed()), call: expire },
  'promote 50 jobs': { jobs: 50, prepare: waiting({ delaySeconds: 0.001 }), call: promote },
  'relay 100 callbacks': { jobs: 100, prepare: completed(CALLBACK), call: relay },
  'begin a callback': { prepare: completed(CALLBACK), call: begin },
  'record a callback': { prepare: begun, call: record },
  get: { prepare: completed(), call: (store, { id }) => verbs.getJob(store, ANY_SPACE, id) },
  'list 50 jobs': {
    jobs: 50,
    call: (store) => verbs.listJobs(store, ANY_SPACE, SPACE, listJobsQuery.parse({ limit: '50' })),
  },
  stats: { call: (store) => verbs.getStats(store, ANY_SPACE, SPACE, { limit: 100, names: [] }) },
};

/** Create jobs of another name that wait behind those of the calls, and some ended jobs. */
export async function prepareOthers(store) {
  await killed({ name: 'other' })(store, 150);
  await create(store, 150, { name: 'other' });
}
