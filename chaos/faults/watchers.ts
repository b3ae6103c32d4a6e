import { HttpClient } from '../../test/support/http.js';
import { StreamClient } from '../../test/support/stream-client.js';
import { until } from '../../test/support/until.js';
import type { Installation } from '../installation/installation.js';
import { startManyWatchers } from '../load/many-watchers.js';
import { bringJob } from '../load/own-jobs.js';
import { createWatchers } from '../load/watchers.js';
import type { Fault } from '../runs/fault.js';
import { limitMemory } from '../runs/measures.js';

const NOISY_SPACE = 'yard-noise';
const SOCKETS = 20;
const NOISY_JOBS = 3;
const EVENTS = 100; // 18 MB per socket: the operating system buffers about 5 MB for a socket that does not read, and a history keeps 8 MB.
const BYTES = 60_000;
const MOST_MB = 220; // A gateway has 100 MB under load, plus up to 1 MB per socket; all events would take 260 MB more.
const CLOSED = 'yardmaster_stream_closes_total{code="1013"} '; // This metric also counts clients that do not respond to a close.
const CLOSED_MS = 180_000;

/** Open streams, and read nothing after their first bytes. */
async function neverReaders({ gateways, key }: Installation): Promise<StreamClient[]> {
  const clients: StreamClient[] = [];
  for (let i = 0; i < SOCKETS; i++) {
    const { url } = gateways[i % gateways.length] as { url: string };
    const client = await StreamClient.open(url, `/spaces/${NOISY_SPACE}?token=${key}`);
    client.ws.pause();
    clients.push(client);
  }
  return clients;
}

/** Count the streams that the gateways have closed because clients were slow. */
async function closedSlow({ gateways }: Installation): Promise<number> {
  let sum = 0;
  for (const { url } of gateways) {
    const client = new HttpClient(url);
    const lines = (await client.call('GET', '/metrics')).text.split('\n');
    client.close();
    sum += Number(lines.find((line) => line.startsWith(CLOSED))?.slice(CLOSED.length) ?? 0);
  }
  return sum;
}

const neverRead: Fault = {
  name: 'F20',
  title: `${SOCKETS} watchers of a busy space stop reading`,
  promises: ['P10', 'P8'],
  stops: [],
  lastsMs: 2_000,
  async inject(context) {
    const { installation, history, call, found, atEnd } = context;
    const endMemory = limitMemory(context, installation.gateways, MOST_MB);
    const others = createWatchers(installation, history);
    const idle = await neverReaders(installation);
    others.watchSpace('watcher-noise', NOISY_SPACE);
    atEnd(async () => {
      await others.stop();
      for (const { ws } of idle) ws.terminate();
      endMemory();
    });
    const client = 'noise';
    const filler = 'x'.repeat(BYTES);
    for (let job = 1; job <= NOISY_JOBS; job++) {
      const jobId = await bringJob(context, { client, spaceId: NOISY_SPACE }, ['claim'], ['ack']);
      for (let n = 1; n <= EVENTS; n++)
        await call({ client, op: 'event', jobId, sent: { token: `noise-${job}-${n}`, filler } });
      await call({ client, op: 'complete', jobId, sent: { result: { token: `noise-${job}` } } });
    }
    const areClosed = async () => (await closedSlow(installation)) >= SOCKETS;
    await until(areClosed, CLOSED_MS).catch(() => found('not all streams without a reader were closed'));
    return undefined;
  },
};

const WATCHED_SPACE = 'yard-watchers';
const JOBS = 10; // Jobs that the sockets watch until they end.
const OPEN_MS = 180_000; // Maximum time to open all sockets on a slow machine.
const END_MS = 90_000;

const manySockets = (sockets: number): Fault => ({
  name: `F21-${sockets}`,
  title: `${sockets} sockets watch`,
  promises: ['P10', 'P8'],
  stops: [],
  lastsMs: 1_000,
  async inject(context) {
    const { installation, found, figures, atEnd, call } = context;
    const { gateways, key } = installation;
    const client = 'watchers';
    const endMemory = limitMemory(context, gateways, Number.POSITIVE_INFINITY);
    const jobs: string[] = [];
    const own = { client, spaceId: WATCHED_SPACE, timeoutSeconds: 600 };
    for (let n = 0; n < JOBS; n++) jobs.push(await bringJob(context, own, ['claim'], ['ack']));
    const watchers = startManyWatchers();
    atEnd(() => watchers.stop());
    const began = Date.now();
    // A tenth of them watch the space, whose streams do not end on their own.
    const ofSpace = Math.ceil(sockets / 10);
    for (let n = 0; n < sockets; n++) {
      const { url } = gateways[n % gateways.length] as { url: string };
      const path = n % 10 === 0 ? `spaces/${WATCHED_SPACE}` : jobs[Math.floor(n / 10) % JOBS];
      watchers.watch(`${url.replace('http', 'ws')}/api/v1/realtime/${path}?token=${key}`);
    }
    await until(() => watchers.seen().open + watchers.seen().refused >= sockets, OPEN_MS).catch(() => undefined); // Reported here:
    const { open, refused } = watchers.seen();
    if (open < sockets) found(`of ${sockets} sockets ${open} are open, ${refused} were refused`);
    Object.assign(figures, { open, 'opened in, ms': Date.now() - began });

    for (const jobId of jobs) await call({ client, op: 'complete', jobId, sent: { result: { token: jobId } } });
    const ofJobs = open - ofSpace;
    const isEndSeen = () =>
      watchers.seen().completed === ofJobs + ofSpace * JOBS && watchers.seen().codes[1000] === ofJobs;
    await until(isEndSeen, END_MS).catch(() =>
      found(`not all sockets got the end of their job: ${JSON.stringify(watchers.seen())}`),
    );
    watchers.close();
    await until(() => watchers.seen().open === 0, END_MS).catch(() =>
      found(`${watchers.seen().open} could not be closed`),
    );
    endMemory();
    return undefined;
  },
});

export const faults: Fault[] = [neverRead, ...[2_000, 10_000].map(manySockets)];
