import { setTimeout as delay } from 'node:timers/promises';
import type { HttpClient } from '../../support/http.js';
import { StreamClient } from '../../support/stream-client.js';

// Jobs whose workers count, and watchers that check that no number is missing.

const SPACE = 'counting';

export interface Counting {
  /** Faults that watchers found, as sentences. */
  faults: string[];
  /** How often a watcher's stream ended before its job did. */
  reconnects(): number;
  /** Complete the jobs, and wait until every watcher has seen it. */
  finish(): Promise<void>;
}

interface Access {
  http: HttpClient;
  url: string;
  key: string;
}

/** Start jobs that count up by progress reports, each with one watcher of everything and one without a token. */
export async function startCounting({ http, url, key }: Access, jobs: number): Promise<Counting> {
  const faults: string[] = [];
  let reconnects = 0;
  let isFinishing = false;
  const call = async (path: string, body: unknown = {}) => {
    const response = await http.call('POST', `/api/v1${path}`, { key, body });
    if (response.status >= 300) faults.push(`${path}: ${response.status} ${response.text}`);
    return response.body;
  };

  async function count(id: string): Promise<void> {
    await call(`/jobs/${id}/claim`);
    await call(`/jobs/${id}/ack`);
    for (let n = 1; !isFinishing; n++) {
      await call(`/jobs/${id}/progress`, { percent: 0, message: String(n) });
      await delay(20);
    }
    await call(`/jobs/${id}/complete`);
  }

  /** Watch as docs/streams.md recommends: connect again whenever the stream ends before the job. */
  async function watch(path: string): Promise<void> {
    for (;;) {
      const client = StreamClient.connect(url, path);
      await client.end();
      faults.push(...faultsOf(client.messages).map((fault) => `${path} ${fault}`));
      const { type, status } = client.messages.at(-1) ?? {};
      if (type === 'completed' || status === 'completed') return;
      reconnects++;
      await delay(50 + Math.random() * 100);
    }
  }

  const ids: string[] = [];
  for (let i = 0; i < jobs; i++) ids.push((await call(`/spaces/${SPACE}/jobs`, { name: 'count' })).id);
  const workers = ids.map(count);
  const watchers = ids.flatMap((id) => [watch(`/${id}?token=${key}`), watch(`/${id}`)]);
  return {
    faults,
    reconnects: () => reconnects,
    async finish() {
      isFinishing = true;
      await Promise.all([...workers, ...watchers]);
    },
  };
}

/** List what is wrong with the messages of one stream. Every report must be one more than the previous, including the init's. */
function faultsOf(messages: StreamClient['messages']): string[] {
  const faults: string[] = [];
  const [first] = messages;
  if (first !== undefined && first.type !== 'init') faults.push(`began with ${first.type}`);
  const reported = messages.filter(({ type }) => type === 'progress').map(({ data }) => Number(data.message));
  // Only the init of a watcher without a token contains the latest report.
  const all = first?.progress ? [Number(first.progress.message), ...reported] : reported;
  if (all.some((n, i) => i > 0 && n !== (all[i - 1] as number) + 1)) faults.push(`saw ${all.slice(0, 50).join(' ')}`);
  return faults;
}
