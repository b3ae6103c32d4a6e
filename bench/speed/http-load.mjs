// The load as a process of its own: so many clients at once, each of which sends its next request when it has an answer.
import { setTimeout as delay } from 'node:timers/promises';
import { HttpClient, requestText } from './http-client.mjs';

const connected = new Map();

/** Clients of these servers, in turn, which stay connected for the next load. */
async function clientsOf(urls, count) {
  const known = `${urls} ${count}`;
  if (!connected.has(known)) {
    const places = Array.from({ length: count }, (_, n) => new URL(urls[n % urls.length]));
    connected.set(known, await Promise.all(places.map((url) => HttpClient.connect(url))));
  }
  return connected.get(known);
}

/** The first id in the text of a poll's answer, null for none. */
function idIn(text) {
  const at = text.indexOf('"id":"');
  return at < 0 ? null : text.slice(at + 6, text.indexOf('"', at + 6));
}

const numbers = new WeakMap();
let numbered = 0;

function clientNumber(client) {
  if (!numbers.has(client)) numbers.set(client, numbered++);
  return numbers.get(client);
}

/** Each kind of load: how it is made of one job, number n, by one client. */
const KINDS = {
  /** The whole life of a job, in four calls. */
  async cycle(client, ask, n) {
    await client.send(ask.create(n));
    // Another client may have had this one's job; there is one for everybody.
    for (;;) {
      const id = idIn(await client.send(ask.poll(n, 1)));
      if (id === null) continue;
      await client.send(ask.ack(id));
      await client.send(ask.complete(id));
      return;
    }
  },
  create: (client, ask, n) => client.send(ask.create(n)),
  emptyPoll: (client, ask, n) => client.send(ask.poll(n, 1)),
  /** Each client asks once a second, at a moment of its own. */
  async idleFleet(client, ask, n) {
    const phase = clientNumber(client) * 618.034;
    // Upwards: a timer that ends in the ms before would have it ask twice.
    await delay(Math.ceil(1_000 - ((performance.now() + phase) % 1_000)));
    await client.send(ask.poll(n, 1));
  },
  /** Fifty jobs created one by one, taken at once, and worked through one by one. */
  async cycleByFifties(client, ask, n) {
    if (n % 50 !== 0) return;
    for (let i = 0; i < 50; i++) await client.send(ask.create(n));
    const { jobs } = JSON.parse(await client.send(ask.poll(n, 50)));
    for (const { id } of jobs) {
      await client.send(ask.ack(id));
      await client.send(ask.complete(id));
    }
  },
};

/** The texts of the requests of this load. */
function asking({ url, key, payloadBytes, spaces, names, filter }) {
  const payload = { text: 'x'.repeat(Math.max(0, payloadBytes - '{"text":""}'.length)) };
  const spaceOf = (n) => (spaces.length === 1 ? spaces[0] : spaces[n % spaces.length]);
  const nameOf = (n) => `name-${n % names}`;
  const to = (path, body) => requestText({ url: new URL(url), key, path: `/api/v1${path}`, body });
  const memory = new Map();
  /** What does not differ from request to request is written once. */
  const once = (id, write) => {
    if (!memory.has(id)) memory.set(id, write());
    return memory.get(id);
  };
  const result = JSON.stringify({ result: { ok: true } });
  return {
    create: (n) =>
      once(`create ${spaceOf(n)} ${nameOf(n)}`, () =>
        to(`/spaces/${spaceOf(n)}/jobs`, JSON.stringify({ name: nameOf(n), payload })),
      ),
    poll: (n, count) =>
      once(`poll ${spaceOf(n)} ${filter ? nameOf(n) : ''} ${count}`, () =>
        to(`/spaces/${spaceOf(n)}/jobs/poll`, JSON.stringify({ count, ...(filter && { types: [nameOf(n)] }) })),
      ),
    ack: (id) => to(`/jobs/${id}/ack`),
    complete: (id) => to(`/jobs/${id}/complete`, result),
  };
}

async function run({ kind, jobs, clients: count, ...load }) {
  const clients = await clientsOf(load.urls, count);
  const ask = asking({ url: load.urls[0], ...load });
  const one = KINDS[kind];
  let next = 0;
  const began = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (next < jobs) await one(client, ask, next++);
    }),
  );
  return { seconds: (performance.now() - began) / 1000 };
}

process.on('message', async (load) => {
  process.send(await run(load).catch((error) => ({ error: String(error) })));
});
