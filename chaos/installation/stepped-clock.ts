import { Redis } from 'ioredis';
import { readSteppedClock } from '../../test/support/stepped-clock.js';

// Imported before a process of the service. Once a step is set, the connections of the process add it to the clock of Redis.

/** Key with the step in seconds. */
export const STEP_KEY = 'stepped-clock';

const patched = new WeakSet<Redis>();
const { connect } = Redis.prototype;
Redis.prototype.connect = function connectStepped(this: Redis, ...inputs: Parameters<Redis['connect']>) {
  if (!patched.has(this)) readSteppedClock(this, STEP_KEY);
  patched.add(this);
  return connect.apply(this, inputs);
};
