// The specification as a small world of plain values: the one oracle of every test suite. A verb changes the world and
// returns what its caller is told, or throws a Refusal. It is written from the specification, but for the partitions and
// the hand-over of callbacks to schedulers, which only the store defines. model.test.ts compares it with the store.

export { ack, complete, fail, heartbeat, kill } from './attempts.js';
export { begin, record, redeliver, relay } from './callbacks.js';
export { expire } from './deadlines.js';
export { claim, create, poll } from './handing-out.js';
export { CALLS_TO, callJob, JOB_VERBS, type JobVerb, refusalOf } from './job-calls.js';
export { append, pageOf, read as readLogs } from './logs.js';
export { get, list, progress, stats } from './reading.js';
export { replay } from './replay.js';
export { type ModelJob, newWorld, Refusal, type World } from './world.js';
