import type { Answer } from '../support/http.js';
import type { TestService } from '../support/service.js';

/** What came of a load. */
export interface Load {
  /** How often each status was answered. */
  statuses: Map<number, number>;
  /** Jobs whose creation was answered 201. */
  created: Set<string>;
  /** Jobs by how often they were handed out as the same attempt; more than once would be a double claim. */
  handedOut: Map<string, number>;
  stop(): Promise<void>;
}

const ANSWERS = [200, 201, 404, 409, 503];

/**
 * Run jobs in each of these spaces, one after the other, until stopped; a job whose fate is unknown is left alone, and
 * comes back by its time-outs.
 *
 * @throws at `stop`, when an answer was none of success, conflict and 503
 */
export function startLoad(service: TestService, spaces: readonly string[]): Load {
  const statuses = new Map<number, number>();
  const created = new Set<string>();
  const handedOut = new Map<string, number>();
  const unexpected: string[] = [];
  let isStopped = false;

  async function call(path: string, body?: unknown): Promise<Answer> {
    const answer = await service.call('POST', path, { body });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (!ANSWERS.includes(answer.status)) unexpected.push(`${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async function run(space: string): Promise<void> {
    const fields = { name: 'work', maxRetries: 50, timeoutSeconds: 3 };
    const { status, body } = await call(`/spaces/${space}/jobs`, fields);
    if (status === 201) created.add(body.id);
    await work(space);
  }

  async function work(space: string): Promise<boolean> {
    const { body } = await call(`/spaces/${space}/jobs/poll`, { count: 1 });
    const job = body.jobs?.[0];
    if (job === undefined) return false;
    if ((await call(`/jobs/${job.id}/ack`)).status !== 200) return true;
    const attempt = `${job.id} ${job.attemptNumber}`;
    handedOut.set(attempt, (handedOut.get(attempt) ?? 0) + 1);
    await call(`/jobs/${job.id}/complete`, { result: 1 });
    return true;
  }

  const loops = spaces.map(async (space) => {
    while (!isStopped) await run(space);
    // What is left, until nothing is.
    for (;;) {
      const [pending, delivered, running] = await Promise.all(
        ['pending', 'delivered', 'running'].map(async (status) => {
          const answer = await service.call('GET', `/spaces/${space}/jobs?status=${status}&limit=1`);
          return answer.status === 200 ? answer.body.length : 1;
        }),
      );
      if (pending + delivered + running === 0) return;
      await work(space);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  return {
    statuses,
    created,
    handedOut,
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      if (unexpected.length > 0) throw new Error(unexpected.slice(0, 10).join('\n'));
    },
  };
}
