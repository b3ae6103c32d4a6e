import type { TestService } from '../support/service.js';

const SPACES = ['load-a', 'load-b', 'load-c'];
const NAMES = ['resize', 'crop', 'a/b:c'];

const of = <T>(list: readonly T[], n: number) => list[n % list.length] as T;

/** Calls of a worker on a job that it has claimed; each job gets the next row. */
const WORK: [verb: string, body?: object][][] = [
  [['ack'], ['progress', { percent: 50, message: 'half' }], ['complete', { result: { ok: true } }]],
  [['ack'], ['checkpoint', { at: 1 }], ['fail', { error: 'no' }]],
  [['ack'], ['logs', ['a line']], ['keepalive'], ['kill', { reason: 'enough' }]],
  [['kill']],
  [], // Not acked.
  [['ack']], // Acked, and then no call.
];

/** Call the API. 4xx responses are allowed, because other callers use the same jobs. */
async function call(service: TestService, path: string, body?: object) {
  const response = await service.call('POST', path, { body });
  if (response.status >= 500) throw new Error(`${path}: ${response.text}`);
  return response;
}

/**
 * Create jobs in some spaces, and make all kinds of calls on them concurrently, until `jobs` were created.
 *
 * @param callbackUrl of every third job
 */
export async function runLoad(service: TestService, jobs: number, callbackUrl: string): Promise<void> {
  let created = 0;
  let callNumber = 0;
  const produce = async () => {
    while (created < jobs) {
      const n = created++;
      const body = {
        name: of(NAMES, n),
        maxRetries: n % 3,
        timeoutSeconds: 0.2,
        ...(n % 3 === 0 ? { callbackUrl } : {}),
      };
      const response = await call(service, `/spaces/${of(SPACES, n)}/jobs`, body);
      if (n % 10 === 0) await call(service, `/jobs/${response.body.id}/claim`);
    }
  };
  const work = async () => {
    while (created < jobs) {
      const body = callNumber % 2 === 0 ? {} : { types: [of(NAMES, callNumber)], count: 5 };
      const polled = await call(service, `/spaces/${of(SPACES, callNumber++)}/jobs/poll`, body);
      for (const { id } of polled.body.jobs) {
        for (const [verb, sent] of of(WORK, callNumber++)) await call(service, `/jobs/${id}/${verb}`, sent);
      }
    }
  };
  await Promise.all([produce(), produce(), work(), work(), work(), work()]);
}
