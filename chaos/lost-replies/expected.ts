import { createJobRequest, ERRORS, uniqueRequest } from '@yardmaster/protocol';
import { STORE_DEFAULTS } from '@yardmaster/store';
import {
  callJob,
  copy,
  create,
  createKeyed,
  get,
  type JobVerb,
  newWorld,
  poll,
  Refusal,
  readLogs,
} from '../../test/model/index.js';
import { ALL_LOGS } from '../checker/dump.js';
import type { Body, Operation } from '../checker/history.js';
import { BODIES } from '../load/bodies.js';
import type { CHANGES } from './rows.js';
import type { Start } from './subject.js';

/** Return the part of a job to compare: not its callbacks, because they are sent in the meantime. */
export const seenOf = ({ status, events, logs }: { status: string; events: { type: string }[]; logs: unknown[] }) => ({
  status,
  events: events.map(({ type }) => type).filter((type) => !type.startsWith('callback_')),
  logs: logs.length,
});

/** Make a call twice in the model. @returns the jobs after each call, and the response to the second */
export function playTwice([op, , , start]: (typeof CHANGES)[number]) {
  const { before, maxRetries = 3, hasCallback, withToken, key } = start;
  const times = { deliveryTimeoutMs: 1, maxDeliveries: 99, retentionMs: 0, redisTimeoutMs: 1 };
  const world = newWorld({ ...STORE_DEFAULTS, ...times }, 0);
  const callback = { callbackUrl: hasCallback ? 'http://receiver' : null, callbackHeaders: null };
  const unique = key === 'unique' ? uniqueRequest.parse({ key }) : null;
  const request = { ...createJobRequest.parse({ name: 'lost', maxRetries, timeoutSeconds: 1, ...callback }), unique };
  const of = { job: '1', caller: null };
  const act = (verb: Operation, body: Body, token?: string | null): unknown => {
    const given = { id: String(world.jobs.size + 1), space: 'space', request };
    if (verb === 'create' && key === undefined) return create(world, given);
    if (verb === 'create')
      return createKeyed(world, { ...given, idempotencyKey: key === 'unique' ? null : (key ?? null) }).job;
    if (verb === 'copy') return copy(world, { ...of, copyId: given.id });
    if (verb === 'poll') return { jobs: poll(world, { space: 'space', count: 1, names: [] }) };
    return callJob(world, verb as JobVerb, { ...of, token: token ?? null, body });
  };
  for (const [verb, body] of before === null ? [] : [['create'] as const, ...before]) act(verb, body);
  const token = withToken ? world.jobs.get(of.job)?.deliveries.at(-1)?.token : null;
  act(op, BODIES[op]?.('first'), token);
  const newestFirst = () => [...world.jobs.keys()].reverse().map((job) => ({ ...of, job }));
  const state = () =>
    newestFirst().map((one) => seenOf({ ...get(world, one), logs: readLogs(world, { ...one, query: ALL_LOGS }).logs }));
  const left = state();
  const again = responseOf(op, key, () => act(op, BODIES[op]?.('again'), token));
  return { left, again, leftAgain: state() };
}

function responseOf(op: Operation, key: Start['key'], call: () => unknown): { status: number; body: Body } {
  try {
    const returned = call();
    const body = (typeof returned === 'object' && returned !== null ? returned : { success: true }) as Body;
    if (op !== 'create' && op !== 'copy') return { status: 200, body };
    const { status, attemptNumber } = body;
    return { status: key === 'unique' ? 200 : 201, body: { status, attemptNumber } };
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { code, jobStatus } = refusal;
    return { status: ERRORS[code].status, body: { code, jobStatus } };
  }
}
