import type { Action } from '@yardmaster/protocol';
import { keysOf } from '../support/fsck.js';
import type { CallOptions, HttpResponse } from '../support/http.js';
import { readState, tokenOf } from '../support/job-state.js';
import { createJob, step } from '../support/jobs.js';
import type { TestService } from '../support/service.js';

type Api = Pick<TestService, 'call'>;

/** An outcome of a job, as a test sends it. */
export type Item = { jobId: string; action: string; deliveryToken?: string | undefined } & Record<string, unknown>;

/** What a worker sends with each of its calls. */
export const BODIES: Record<Action, unknown> = {
  ack: undefined,
  progress: { percent: 1, message: 'on it', subProgress: { build: { percent: 2 } } },
  checkpoint: { row: [1, null] },
  event: 'seen',
  keepalive: undefined,
  complete: { result: { ok: [true] } },
  fail: { error: { why: 'broken' }, retryAfterSeconds: 3_600 },
  release: { reason: 'stop', delaySeconds: 60 },
};
export const ACTIONS = Object.keys(BODIES) as Action[];

/** Return the token of a delivery of a job, such as `1.0`; undefined for no token. */
export const tokenFor = async ({ redis, store }: TestService, id: string, delivery: string | undefined) =>
  delivery === undefined ? undefined : tokenOf(redis, store.keys.job(id), delivery);

/** Make the outcome that says what the call of an action says. */
export function itemOf(jobId: string, action: Action, deliveryToken?: string): Item {
  const body = BODIES[action];
  const fields = action === 'checkpoint' || action === 'event' ? { data: body } : (body as object);
  return { jobId, action, ...(deliveryToken !== undefined && { deliveryToken }), ...fields };
}

export const settle = (api: Api, spaceId: string, outcomes: unknown, options: CallOptions = {}) =>
  api.call('POST', `/spaces/${spaceId}/jobs/settle`, { body: { outcomes }, ...options });

export const poll = (api: Api, spaceId: string, body: object = {}, options: CallOptions = {}) =>
  api.call('POST', `/spaces/${spaceId}/jobs/poll`, { body, ...options });

export const read = async (api: Api, id: string) => (await api.call('GET', `/jobs/${id}`)).body;

/** Make the call of an action, with the body of an outcome unless another is given. */
export const single = (api: Api, jobId: string, action: Action, token?: string, body: unknown = BODIES[action]) =>
  api.call('POST', `/jobs/${jobId}/${action}`, {
    body,
    headers: token === undefined ? {} : { 'x-delivery-token': token },
  });

/** Return the result that an outcome must have, by the response of its endpoint. */
export const resultOf = (jobId: string, { status, body }: HttpResponse) =>
  status === 200 ? { jobId, ...body } : { jobId, success: false, ...body };

/** Create a job, and make these calls about it as its workers do. @returns its id */
export async function jobAfter(api: Api, spaceId: string, steps: string[], fields = {}): Promise<string> {
  const { id } = await createJob(api, spaceId, fields);
  for (const verb of steps)
    await step(api, id, verb, verb === 'reschedule' ? { delaySeconds: 0 } : BODIES[verb as Action]);
  return id;
}

/** Replace what differs between twin jobs: their ids and their times. */
const withoutTimes = (value: unknown, id: string) =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(id, 'id')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at')
      .replaceAll(/\d{13,}/g, 'time'),
  );

/**
 * Return what is stored and shown of jobs, without times: record, list of events, job as Get Job shows it, and the
 * indexes that contain it. A deadline is counted from the last change, unless a keepalive, which is not shown, moved it.
 */
export async function tracesOf(service: TestService, jobs: readonly { id: string; isKeptAlive?: boolean }[]) {
  const { redis, store, prefix } = service;
  const keys = await keysOf(redis, prefix);
  const sets = keys.filter((key) => /\}:(space:[^/]+\/(jobs|status|queue)|due$|deadlines$|callbacks$)/.test(key));
  const hashes = keys.filter((key) => /\/unique$/.test(key));
  const indexes = await Promise.all(
    sets.sort().map(async (key) => {
      const flat = await redis.zrange(key, 0, -1, 'WITHSCORES');
      return [key, new Map(flat.flatMap((member, i) => (i % 2 ? [] : [[member, flat[i + 1]]])))] as const;
    }),
  );
  const unique = (await Promise.all(hashes.map((key) => redis.hvals(key)))).flat();
  return Promise.all(
    jobs.map(async ({ id, isKeptAlive = false }) => {
      const key = store.keys.job(id);
      const record = await redis.hgetall(key);
      const isIn = indexes.filter(([, members]) => members.has(id)).map(([name]) => name);
      const deadline = new Map(indexes).get(store.keys.deadlines(id.slice(0, 2)))?.get(id);
      const state = await readState(redis, key);
      const window = deadline === record.runBy ? 'until runBy' : Number(deadline) - Number(state.updatedAt);
      const fields = { ...record, unique: record.unique?.replace(/\S+$/, '') };
      const shown = { ...(await read(service, id)), unique: null };
      const events = await redis.lrange(`${key}:events`, 0, -1);
      return {
        ...withoutTimes({ fields, events, shown, isIn }, id),
        window: deadline && !isKeptAlive ? window : null,
        isUnique: unique.includes(id),
      };
    }),
  );
}
