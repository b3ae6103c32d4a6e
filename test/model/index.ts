// The specification as a world of plain values: the one oracle of every test suite. A verb changes the world and returns
// the response, or throws a Refusal. It is written from the specification, except for partitions and for how schedulers
// share callbacks, which only the store defines. model.test.ts compares it with the store.

export { ack, complete, fail, heartbeat, kill } from './attempts.js';
export { begin, record, redeliver, relay } from './callbacks.js';
export { expire, promote } from './deadlines.js';
export { claim, create, poll } from './delivering.js';
export { callJob, codesOf, JOB_VERBS, type JobVerb, refusalOf, worldWith } from './job-calls.js';
export { createKeyed } from './keyed.js';
export { append, pageOf, read as readLogs } from './logs.js';
export { copy, remove, requeue } from './manage.js';
export { pause, resume } from './pauses.js';
export { get, list, progress, spaces, stats } from './reading.js';
export { replay } from './replay.js';
export { changesNothing, type WorkerCall } from './tokens.js';
export { reschedule } from './waiting.js';
export { type ModelJob, newWorld, Refusal, type World } from './world.js';
