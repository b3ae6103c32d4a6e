import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ STREAMS_PER_ADDRESS: '1000' });
});
afterAll(() => service.stop());

const RUNS = 1_000;
const AT_ONCE = 20;

type Step = readonly [verb: string, body?: unknown];
const progress = (percent: number): Step => ['progress', { percent, message: `at ${percent}` }];

/** Two attempts with everything that can happen on the way, ending well. */
const LIFE: readonly Step[] = [
  ['claim'],
  ['ack'],
  progress(10),
  ['event', { n: 1 }],
  ['checkpoint', [1]],
  progress(20),
  ['fail', { error: 'once' }],
  ['claim'],
  ['ack'],
  progress(30),
  ['event', { n: 2 }],
  progress(40),
  ['complete', { result: 'done' }],
];

const STATUS_AFTER: Record<string, string> = {
  created: 'pending',
  delivered: 'delivered',
  acked: 'running',
  retried: 'pending',
  completed: 'completed',
};

interface Event {
  type: string;
  data: unknown;
  createdAt: string;
}

async function live(id: string): Promise<void> {
  for (const [verb, body] of LIFE) {
    const { status } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
    if (status !== 200) throw new Error(`${verb}: ${status}`);
  }
}

/** Init and messages must be a snapshot of some moment and exactly what came later. */
function expectFull({ messages: [init, ...messages] }: StreamClient, history: Event[]): void {
  const before = history.slice(0, history.length - messages.length);
  const moves = before.map(({ type }) => STATUS_AFTER[type]).filter(Boolean);
  expect(init).toMatchObject({ type: 'init', status: moves.at(-1) });
  expect(messages.map(({ type, data, timestamp }) => ({ type, data, createdAt: timestamp }))).toEqual(
    history.slice(before.length).map(({ type, data, createdAt }) => ({ type, data, createdAt })),
  );
}

function expectProgress({ messages: [init, ...messages] }: StreamClient, history: Event[]): void {
  const shown = history.filter(({ type }) => type === 'progress' || type === 'completed');
  const before = shown.slice(0, shown.length - messages.length);
  // A client that comes after the end is told of it all the same.
  const latest = before.filter(({ type }) => type === 'progress').at(-1);
  expect(init.progress).toEqual(latest?.data);
  expect(messages.map(({ type, data, timestamp }) => [type, data, timestamp])).toEqual(
    shown
      .slice(before.length)
      .map(({ type, data, createdAt }) => [type, type === 'progress' ? data : undefined, createdAt]),
  );
}

/** Connect at some moment of a job's life, and compare what comes with the history. */
async function run(n: number): Promise<void> {
  const { id } = await createJob(service, `run-${n % 7}`);
  const isFull = n % 2 === 0;
  const living = live(id);
  // Spread the moment of connecting over the life: it takes some number of round trips to get there.
  for (let i = 0; i < n % 14; i++) await service.redis.ping();
  const client = StreamClient.connect(service.url, isFull ? `/${id}?token=${ADMIN_KEY}` : `/${id}`);
  await living;
  const { events } = (await service.call('GET', `/jobs/${id}`)).body as { events: Event[] };
  await until(() => {
    const last = client.messages.at(-1);
    return last?.type === 'completed' || last?.status === 'completed';
  });
  await client.close();
  if (isFull) expectFull(client, events);
  else expectProgress(client, events);
  seen.add(client.messages.length);
}

const seen = new Set<number>();

it(`sends a snapshot and then exactly what came later, ${RUNS} times while the job moves`, async () => {
  let next = 0;
  const lane = async () => {
    while (next < RUNS) await run(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  // Clients did come at many different moments, and not all before or all after.
  expect(seen.size).toBeGreaterThan(8);
}, 120_000);
