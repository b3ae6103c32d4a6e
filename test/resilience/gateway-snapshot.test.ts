import { expect, it } from '@jest/globals';
import { append, logSeqsOf, seqs } from '../gateway/logs.js';
import { createJob, jobIn } from '../support/jobs.js';
import { withService } from '../support/service.js';
import { ADMIN_KEY } from '../support/shared-service.js';
import { StreamClient } from '../support/stream-client.js';
import { until } from '../support/until.js';

const service = withService({ LOGS_PER_JOB: '1000000' });

/** Run a function for each number below `count`, with `atOnce` calls in parallel. */
async function forEach(count: number, atOnce: number, act: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

type Step = readonly [verb: string, body?: unknown];
const progress = (percent: number): Step => ['progress', { percent, message: `at ${percent}` }];

/** Two attempts with every kind of event, the second of which completes. */
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

/** Expect that the init is a snapshot of some moment, and that the messages are exactly the later events. */
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
  // A client that connects after the end also gets it.
  const latest = before.filter(({ type }) => type === 'progress').at(-1);
  expect(init.progress).toEqual(latest?.data);
  expect(messages.map(({ type, data, timestamp }) => [type, data, timestamp])).toEqual(
    shown
      .slice(before.length)
      .map(({ type, data, createdAt }) => [type, type === 'progress' ? data : undefined, createdAt]),
  );
}

/** Connect after some steps of a job, while more follow, and compare the messages with the history. */
async function watch(n: number): Promise<void> {
  const { id } = await createJob(service, `run-${n % 7}`);
  const isFull = n % 2 === 0;
  const connect = () => StreamClient.connect(service.url, isFull ? `/${id}?token=${ADMIN_KEY}` : `/${id}`);
  const steps = n % (LIFE.length + 1);
  let client: StreamClient | undefined;
  for (const [step, [verb, body]] of LIFE.entries()) {
    if (step === steps) client = connect();
    const { status } = await service.call('POST', `/jobs/${id}/${verb}`, { body });
    if (status !== 200) throw new Error(`${verb}: ${status}`);
  }
  client ??= connect();
  const { messages } = client;
  await until(() => messages.at(-1)?.type === 'completed' || messages.at(-1)?.status === 'completed');
  await client.close();
  const { events } = (await service.call('GET', `/jobs/${id}`)).body as { events: Event[] };
  if (isFull) expectFull(client, events);
  else expectProgress(client, events);
}

const RUNS = 400;

it(`the gateway sends a snapshot and then exactly the later events, in ${RUNS} streams of jobs that change`, async () => {
  await forEach(RUNS, 20, watch);
});

const CLIENTS = 60;
const WRITERS = 10;

it(`${CLIENTS} clients that connect while ${WRITERS} workers append logs get every later entry once and in order`, async () => {
  const id = await jobIn(service, 'running', 'joining');
  const joined: { client: StreamClient; read: number }[] = [];
  const writer = async (n: number) => {
    for (let batch = 0; joined.length < CLIENTS; batch++) await append(service, id, 1 + ((n + batch) % 7));
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, n) => writer(n)));
  await forEach(CLIENTS, 10, async () => {
    const client = await StreamClient.open(service.url, `/${id}?token=${ADMIN_KEY}`);
    const { body } = await service.call('GET', `/jobs/${id}/logs?limit=1`);
    joined.push({ client, read: body.cursor.newestSeq });
  });
  await writing;
  const last = (await append(service, id)).toSeq;

  for (const { client, read } of joined) {
    await until(() => client.messages.at(-1)?.data?.toSeq === last);
    const shown = logSeqsOf(client);
    const [first] = shown as [number];
    expect(shown).toEqual(seqs(first, last));
    // A read after the init reaches at least to the first message, so no entry is missing in between.
    expect(read).toBeGreaterThanOrEqual(first - 1);
    expect(new Set(client.types())).toEqual(new Set(['init', 'logs_appended']));
    await client.close();
  }
});
