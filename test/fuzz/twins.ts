import type { Route } from '@yardmaster/api';
import {
  checkLog,
  createJobRequest,
  type JobEvent,
  type JsonValue,
  type NewLog,
  STATUSES,
  type Status,
} from '@yardmaster/protocol';
import { partitionOf, STORE_DEFAULTS } from '@yardmaster/store';
import * as model from '../model/index.js';
import { jobIn } from '../support/jobs.js';
import { JOBS_SPACE } from './keys.js';
import type { FuzzedService } from './service.js';

/** The status of a request's job; `called` is completed with a callback, `unknown` does not exist. */
export const PLACES = [...STATUSES, 'called', 'unknown'] as const;
export type Place = (typeof PLACES)[number];

const statusOf = (place: Place): Status => (place === 'called' || place === 'unknown' ? 'completed' : place);
const urlIn = (place: Place) => (place === 'called' ? 'http://127.0.0.1:9/' : null);

/** Return the verb that an endpoint calls on a job; null if it only reads, or names no job. */
function verbOf({ method, path }: Route): model.JobVerb | null {
  if (method === 'DELETE') return path.endsWith(':jobId') ? 'delete' : null;
  const verb = path.split('/').at(-1) as model.JobVerb;
  return method === 'POST' && path.includes(':jobId') && model.JOB_VERBS.includes(verb) ? verb : null;
}

/** Return how the model refuses an endpoint's call on a job in a status; null if it is accepted. */
export function refusalIn(place: Place, route: Route) {
  const verb = verbOf(route);
  return verb === null ? null : model.refusalOf(verb, statusOf(place), urlIn(place));
}

/** A job in the service, and the same job in a world of the model (test/model). */
export interface Twin {
  id: string;
  world: model.World;
}

/** The data that support/jobs.ts sends. */
const SENT: Partial<Record<model.JobVerb, JsonValue>> = { complete: { answer: 42 }, fail: 'broken', kill: 'stop' };

/** Create a job in a status, in the service and in the model. Its window is a day, so that it does not time out. */
export async function createTwin(service: FuzzedService, place: Place): Promise<Twin> {
  const world = model.newWorld(STORE_DEFAULTS, Date.now());
  if (place === 'unknown') return { world, id: `00${'a'.repeat(26)}` };
  const delaySeconds = place === 'scheduled' ? 86_400 : null;
  const given = { name: 'work', timeoutSeconds: 86_400, delaySeconds, callbackUrl: urlIn(place) };
  const request = createJobRequest.parse({ ...given, maxRetries: place === 'dead' ? 0 : 3 });
  const id = await jobIn(service, statusOf(place), JOBS_SPACE, request);
  model.create(world, { id, space: JOBS_SPACE, request });
  for (const verb of model.CALLS_TO[statusOf(place)]) model.callJob(world, verb, { job: id, data: SENT[verb] ?? null });
  return { world, id };
}

export type Json = Record<string, unknown>;

export const pick = (from: unknown, names: readonly string[]) =>
  Object.fromEntries(Object.entries(from as Json).filter(([name]) => names.includes(name)));

function logged(entry: unknown): Json {
  if (typeof entry === 'string') return { message: entry };
  const { timestamp } = checkLog(entry, String) as NewLog;
  const given = pick(entry, ['message', 'level', 'source', 'metadata']);
  const stored = { warning: 'warn', critical: 'fatal' }[given.level as string];
  if (stored !== undefined) given.level = stored;
  return timestamp === undefined ? given : { ...given, timestamp };
}

const REPORT = ['percent', 'message'];

function reported(value: Json): Json {
  const report = pick(value, REPORT);
  if (value.subProgress === undefined) return report;
  const stages = Object.entries(value.subProgress as Json).map(([name, stage]) => [name, pick(stage, REPORT)]);
  return { ...report, subProgress: Object.fromEntries(stages) };
}

/** The time of a body, as a number. */
const atOf = (text: unknown) => (typeof text === 'string' ? Date.parse(text) : null);

/** The data of a body by verb, as the model takes it: without unknown fields. */
const DATA: Record<string, (value: Json) => unknown> = {
  progress: reported,
  checkpoint: (value) => value,
  event: (value) => value,
  complete: ({ result }) => result,
  fail: ({ error }) => error,
  release: ({ reason }) => reason,
  kill: ({ reason }) => reason,
  reschedule: ({ scheduledFor, delaySeconds = null, priority = null }) => ({
    ...{ scheduledFor: atOf(scheduledFor), delaySeconds, priority },
  }),
  logs: (value) => (value as unknown as unknown[]).map(logged),
};

/** Fields of a body that the model takes beside the data, and the verbs of such bodies. */
const OPTIONS = ['retryable', 'retryAfterSeconds', 'delaySeconds'];
const WITH_OPTIONS = ['fail', 'release', 'requeue'];

const CLOCK = /^(created|updated|delivered|started|completed)At$|^timestamp$|^scheduledFor$/;

/** Write a value as text without the times of the clock, which does not move in the model. */
const masked = (value: unknown) =>
  JSON.stringify(value, function (this: Json, key, each) {
    const isClock = CLOCK.test(key) || (key === 'loggedAt' && each === this.createdAt);
    return isClock && typeof each === 'string' ? 'time' : each;
  });

/** List the differences between a response of the service and that of the model. */
export function differences(what: string, shown: Json, expected: object): string[] {
  return Object.keys({ ...shown, ...expected }).flatMap((field) => {
    const [is, must] = [shown, expected as Json].map((from) => masked({ [field]: from[field] }));
    return is === must ? [] : [`${what} has ${is?.slice(0, 300)} and must have ${must?.slice(0, 300)}`];
  });
}

const query = { mode: 'latest' as const, bound: null, limit: 500, levels: null, terms: [] };

/**
 * Call the verb of an endpoint on the job of the model too, and check that both jobs are equal.
 *
 * @param served the endpoint, the value of its body, and its response; null when it refused
 */
export async function twinComplaints(
  { call }: FuzzedService,
  { world, id }: Twin,
  served: { route: Route; value: unknown; response: string } | null,
): Promise<string[]> {
  const of = { job: id, caller: null };
  const verb = served && verbOf(served.route);
  const data = ((verb && DATA[verb]?.(served?.value as Json)) ?? null) as JsonValue;
  const options: model.CallOptions = WITH_OPTIONS.includes(verb as string) ? pick(Object(served?.value), OPTIONS) : {};
  const modelResponse = verb && (model.callJob(world, verb, { job: id, data, options }) ?? { success: true });
  const read = async (path: string) => {
    const { body } = await call('GET', `/jobs/${id}${path}`);
    // Whether an attempt at its callback has ended depends on time.
    if (body.events) body.events = body.events.filter(({ type }: JobEvent) => !type.startsWith('callback'));
    // A short delay may be over by now.
    if (body.events?.at(-1)?.type === 'ready') {
      world.now = Date.parse(body.updatedAt);
      model.promote(world, { partition: partitionOf(JOBS_SPACE) });
    }
    return body as Json;
  };
  return [
    ...(modelResponse ? differences('response', JSON.parse(served?.response as string), modelResponse) : []),
    ...(world.jobs.has(id) ? differences('job', await read(''), model.get(world, of)) : []),
    ...(verb === 'progress' ? differences(verb, await read('/progress'), model.progress(world, of)) : []),
    ...(verb === 'logs'
      ? differences(verb, await read('/logs?limit=500'), model.readLogs(world, { ...of, query }))
      : []),
  ];
}
