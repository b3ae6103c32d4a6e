import { Redis } from 'ioredis';
import { readSteppedClock } from '../../test/support/stepped-clock.js';

// Imported before a process of the service: its connections add a step to the clock of Redis, once a step is set.

/** Key whose value is the step in seconds. */
export const STEP_KEY = 'stepped-clock';

const patched = new WeakSet<Redis>();
const { connect } = Redis.prototype;
Redis.prototype.connect = function connectStepped(this: Redis, ...inputs: Parameters<Redis['connect']>) {
  if (!patched.has(this)) readSteppedClock(this, STEP_KEY);
  patched.add(this);
  return connect.apply(this, inputs);
};
