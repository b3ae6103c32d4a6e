import type { HttpClient } from '../../support/http.js';

/** A steady load, and what it has done so far. */
export interface SteadyLoad {
  /** Jobs that were created, each of which must be completed exactly once. */
  created: string[];
  completed: Set<string>;
  calls(): number;
  /** Every call without a 2xx response, as a sentence. */
  failures: string[];
  /** Begin no more jobs, and wait for those in progress. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  http: HttpClient;
  key: string;
  /** Jobs begun per second. */
  rate: number;
  /** Jobs in progress at which the load slows down. */
  atMost: number;
}

const SPACES = 20;

/** Run jobs from creation to completion at a steady rate: create, poll, ack, progress, complete. */
export function startSteadyLoad({ http, key, rate, atMost }: LoadOptions): SteadyLoad {
  const created: string[] = [];
  const completed = new Set<string>();
  const failures: string[] = [];
  const underWay = new Set<Promise<void>>();
  let calls = 0;

  async function call(path: string, body: unknown = {}) {
    calls++;
    try {
      const response = await http.call('POST', `/api/v1${path}`, { key, body });
      if (response.status < 300) return response.body;
      failures.push(`${path}: ${response.status} ${response.text}`);
    } catch (error) {
      failures.push(`${path}: ${error}`);
    }
    return null;
  }

  async function run(n: number): Promise<void> {
    const space = `load-${n % SPACES}`;
    const job = await call(`/spaces/${space}/jobs`, { name: 'work', payload: { n } });
    if (job === null) return;
    created.push(job.id);
    const polled = await call(`/spaces/${space}/jobs/poll`);
    for (const { id } of polled?.jobs ?? []) {
      await call(`/jobs/${id}/ack`);
      await call(`/jobs/${id}/progress`, { percent: 50, message: 'half' });
      if ((await call(`/jobs/${id}/complete`, { result: n })) !== null) completed.add(id);
    }
  }

  const began = performance.now();
  let n = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * rate;
    for (; n < due; n++) {
      if (underWay.size >= atMost) continue;
      const one = run(n);
      underWay.add(one);
      void one.finally(() => underWay.delete(one));
    }
  }, 10);

  return {
    created,
    completed,
    failures,
    calls: () => calls,
    async stop() {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}
