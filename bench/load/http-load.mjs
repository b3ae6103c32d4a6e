// A worker that generates load over HTTP: each of its clients sends the next request when it has a response.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestText } from './http.mjs';
import { payloadOf, serve } from './worker.mjs';

const connected = new Map();

/** Open connections to these servers in rotation. They stay open for the next load. */
async function connectionsTo(urls, count) {
  const id = `${urls} ${count}`;
  const before = connected.get(id) ?? [];
  const opened = Array.from({ length: count }, (_, n) =>
    before[n]?.isOpen ? before[n] : Connection.open(new URL(urls[n % urls.length])),
  );
  connected.set(id, await Promise.all(opened));
  return connected.get(id);
}

/** Find the first ID in the response to a poll; null for none. */
function idIn(text) {
  const at = text.indexOf('"id":"');
  return at < 0 ? null : text.slice(at + 6, text.indexOf('"', at + 6));
}

/** Run one job from create to complete. @param whileRunning makes further calls for the job with this ID */
async function live(connection, ask, n, whileRunning = () => undefined) {
  await connection.must(ask.create(n));
  // Another client may have taken this job, but there is a job for each client.
  for (;;) {
    const id = idIn(await connection.must(ask.poll(n, 1)));
    if (id === null) continue;
    await connection.must(ask.ack(id));
    await whileRunning(id);
    await connection.must(ask.complete(id));
    return;
  }
}

const jobsIn = (text) => JSON.parse(text).jobs;

/**
 * Create some jobs with one call, then settle the client's jobs with the poll that claims the next ones.
 *
 * @param held jobs that the client holds
 */
async function settleAndPoll({ connection, ask, n, held }, size, hasProgress = false) {
  if (n % size !== 0) return;
  await connection.must(size === 1 ? ask.create(n) : ask.createMany(n, size));
  const next = jobsIn(await connection.must(ask.turn(n, held.splice(0), size)));
  held.push(...next);
  if (hasProgress && next.length > 0) await connection.must(ask.settleProgress(n, next));
}

/** Kinds of load: the calls of one client for job number n. `ask` creates the requests. */
const KINDS = {
  /** A job in two calls. */
  turn: (job) => settleAndPoll(job, 1),
  turnWithProgress: (job) => settleAndPoll(job, 1, true),
  /** Two calls for ten jobs, or for fifty. */
  batch10: (job) => settleAndPoll(job, 10),
  batch10WithProgress: (job) => settleAndPoll(job, 10, true),
  batch50: (job) => settleAndPoll(job, 50),
  batch50WithProgress: (job) => settleAndPoll(job, 50, true),
  /** A job in four calls. */
  cycle: ({ connection, ask, n }) => live(connection, ask, n),
  /** A job with a progress report. */
  cycleWithProgress: ({ connection, ask, n }) => live(connection, ask, n, (id) => connection.must(ask.progress(id))),
  create: ({ connection, ask, n }) => connection.must(ask.create(n)),
  emptyPoll: ({ connection, ask, n }) => connection.must(ask.poll(n, 1)),
  /** Each client polls once a second, all at different moments. */
  async idleFleet({ connection, ask, n, client }) {
    const phase = client * 618.034;
    // Round up, because a timer that fires 1 ms early would cause a second poll.
    await delay(Math.ceil(1_000 - ((performance.now() + phase) % 1_000)));
    await connection.must(ask.poll(n, 1));
  },
};

const HALF = { percent: 50, message: 'half' };
const PROGRESS = JSON.stringify(HALF);
const COMPLETION = { result: { ok: true } };

const outcomesOf = (held, action, fields) =>
  held.map(({ id, deliveryToken }) => ({ jobId: id, deliveryToken, action, ...fields }));

/** Create functions that return the texts of requests. */
function asking({ url, key, payloadBytes, spaces, names }) {
  const spaceOf = (n) => spaces[n % spaces.length];
  const nameOf = (n) => `name-${n % names}`;
  const to = (path, body) => requestText({ url: new URL(url), key, path, body });
  const written = new Map();
  /** Cache a text that many requests share. */
  const once = (id, write) => {
    if (!written.has(id)) written.set(id, write());
    return written.get(id);
  };
  const payload = payloadOf(payloadBytes);
  const result = JSON.stringify(COMPLETION);
  const types = (n) => (names > 1 ? { types: [nameOf(n)] } : {});
  return {
    create: (n) =>
      once(`create ${spaceOf(n)} ${nameOf(n)}`, () =>
        to(`/spaces/${spaceOf(n)}/jobs`, JSON.stringify({ name: nameOf(n), payload })),
      ),
    poll: (n, count) =>
      once(`poll ${spaceOf(n)} ${nameOf(n)} ${count}`, () =>
        to(`/spaces/${spaceOf(n)}/jobs/poll`, JSON.stringify({ count, ...types(n) })),
      ),
    createMany: (n, size) =>
      once(`create ${size} ${spaceOf(n)} ${nameOf(n)}`, () =>
        to(`/spaces/${spaceOf(n)}/jobs`, JSON.stringify(Array(size).fill({ name: nameOf(n), payload }))),
      ),
    turn: (n, held, count) => {
      const settle = outcomesOf(held, 'complete', COMPLETION);
      return to(`/spaces/${spaceOf(n)}/jobs/poll`, JSON.stringify({ count, ...types(n), autoAck: true, settle }));
    },
    settleProgress: (n, held) =>
      to(`/spaces/${spaceOf(n)}/jobs/settle`, JSON.stringify({ outcomes: outcomesOf(held, 'progress', HALF) })),
    settleAll: (n, held) =>
      to(`/spaces/${spaceOf(n)}/jobs/settle`, JSON.stringify({ outcomes: outcomesOf(held, 'complete', COMPLETION) })),
    ack: (id) => to(`/jobs/${id}/ack`),
    progress: (id) => to(`/jobs/${id}/progress`, PROGRESS),
    complete: (id) => to(`/jobs/${id}/complete`, result),
  };
}

serve({
  /**
   * Put a load on some servers. @returns duration in seconds
   *
   * @param load.kind one of KINDS, `jobs` how often, by how many `clients`
   */
  async run({ kind, jobs, clients, urls, ...load }) {
    const connections = await connectionsTo(urls, clients);
    const ask = asking({ url: urls[0], ...load });
    let next = 0;
    const began = performance.now();
    await Promise.all(
      connections.map(async (connection, client) => {
        const held = [];
        let n = 0;
        while (next < jobs) {
          n = next++;
          await KINDS[kind]({ connection, ask, n, client, held });
        }
        // Jobs that the client still holds also count.
        if (held.length > 0) await connection.must(ask.settleAll(n, held));
      }),
    );
    return { seconds: (performance.now() - began) / 1000 };
  },
});
