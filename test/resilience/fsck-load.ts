import type { TestService } from '../support/service.js';

const SPACES = ['load-a', 'load-b', 'load-c'];
const NAMES = ['resize', 'crop', 'a/b:c'];

const of = <T>(list: readonly T[], n: number) => list[n % list.length] as T;

/** What a worker does with a job that it was handed, by turns. */
const LIVES: [verb: string, body?: object][][] = [
  [['ack'], ['progress', { percent: 50, message: 'half' }], ['complete', { result: { ok: true } }]],
  [['ack'], ['checkpoint', { at: 1 }], ['fail', { error: 'no' }]],
  [['ack'], ['logs', ['a line']], ['keepalive'], ['kill', { reason: 'enough' }]],
  [['kill']],
  [], // Nobody acks it.
  [['ack']], // It falls silent.
];

/** Do what any caller may do: 4xx are answers too, since others are at the same jobs. */
async function call(service: TestService, path: string, body?: object) {
  const response = await service.call('POST', path, { body });
  if (response.status >= 500) throw new Error(`${path}: ${response.text}`);
  return response;
}

/**
 * Create jobs in some spaces and do everything to them that callers can, at once, until `jobs` were created.
 *
 * @param callbackUrl every third job has it
 */
export async function live(service: TestService, jobs: number, callbackUrl: string): Promise<void> {
  let created = 0;
  let turn = 0;
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
      const body = turn % 2 === 0 ? {} : { types: [of(NAMES, turn)], count: 5 };
      const polled = await call(service, `/spaces/${of(SPACES, turn++)}/jobs/poll`, body);
      for (const { id } of polled.body.jobs) {
        for (const [verb, sent] of of(LIVES, turn++)) await call(service, `/jobs/${id}/${verb}`, sent);
      }
    }
  };
  await Promise.all([produce(), produce(), work(), work(), work(), work()]);
}
