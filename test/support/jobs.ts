import type { Status } from '@yardmaster/protocol';
import { ANY_SPACE, getJob } from '@yardmaster/store';
import { addFlag } from './job-state.js';
import type { TestService } from './service.js';

type Fields = Record<string, unknown>;
type Api = Pick<TestService, 'call'>;

/** Create a job. Pass only the fields that matter. */
export async function createJob(service: Api, spaceId: string, fields: Fields = {}) {
  const { status, body } = await service.call('POST', `/spaces/${spaceId}/jobs`, { body: { name: 'work', ...fields } });
  if (status !== 201) throw new Error(`not created: ${JSON.stringify(body)}`);
  return body as { id: string; createdAt: string };
}

/**
 * Call an endpoint of a job as its worker does: `ack`, `progress`, `logs`, `complete` and so on.
 *
 * @throws when the service refuses the call
 */
export async function step(service: Api, id: string, verb: string, body?: unknown): Promise<void> {
  const response = await service.call('POST', `/jobs/${id}/${verb}`, { body });
  if (response.status !== 200) throw new Error(`${verb}: ${response.text}`);
}

/** The API calls that bring a new job into a status. */
const PATHS: Record<Status, [verb: string, body?: unknown][]> = {
  scheduled: [],
  pending: [],
  delivered: [['claim']],
  running: [['claim'], ['ack']],
  completed: [['claim'], ['ack'], ['complete', { result: { answer: 42 } }]],
  dead: [['claim'], ['ack'], ['fail', { error: 'broken' }]],
  killed: [['kill', { reason: 'stop' }]],
};

/** Create a job and bring it into a status. A dead job needs `maxRetries: 0`, a scheduled job a delay. */
export async function jobIn(service: Api, status: Status, spaceId: string, fields: Fields = {}): Promise<string> {
  const needed = {
    ...(status === 'dead' && { maxRetries: 0 }),
    ...(status === 'scheduled' && { delaySeconds: 3_600 }),
  };
  const { id } = await createJob(service, spaceId, { ...needed, ...fields });
  for (const [verb, body] of PATHS[status]) await step(service, id, verb, body);
  return id;
}

/** Store the history that the record of a job implies as a list, so that a test can append entries to it. */
export async function writeHistory({ redis, store }: Pick<TestService, 'redis' | 'store'>, id: string): Promise<void> {
  const list = `${store.keys.job(id)}:events`;
  const { events } = await getJob(store, ANY_SPACE, id);
  const entries = events.slice(1).map(({ type, createdAt }) => JSON.stringify([type, Date.parse(createdAt)]));
  if (entries.length === 0 || (await redis.exists(list))) return;
  await redis.rpush(list, ...entries);
  await addFlag(redis, store.keys.job(id), 'h');
}
