import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as does from '../../test/support/behaviours.js';
import { freePort } from '../../test/support/free-port.js';
import { startListener, startReceiver } from '../../test/support/receiver.js';
import { until } from '../../test/support/until.js';
import type { History } from '../checker/history.js';
import { bringJob, nextNumber } from '../load/own-jobs.js';
import { NAMES, type Receiving, SPACES } from '../load/plan.js';
import { writeReceived } from '../load/receivers.js';
import { UNREAD } from '../rules/callbacks.js';
import type { Finding } from '../rules/rule.js';
import type { Fault, FaultContext, Run } from '../runs/fault.js';
import { limitMemory } from '../runs/measures.js';

const BEGUN_MS = 60_000; // Some callbacks may wait for those of the load.

/** End some jobs, and wait until each callback is attempted. */
export async function callBack(context: FaultContext, count: number, receiving: Receiving): Promise<void> {
  const { store, connection } = context.installation;
  const own = { client: 'ender', spaceId: 'called-back', receiving };
  const end = async () => {
    const jobId = await bringJob(context, own, ['claim'], ['ack']);
    await context.call({ client: 'ender', op: 'complete', jobId, sent: { result: { token: `end of ${jobId}` } } });
    const fields = () => connection.hmget(store.keys.job(jobId), 'callbackLeasedUntil', 'callbackAttempts');
    await until(async () => (await fields()).some((field) => field !== null), BEGUN_MS);
  };
  await Promise.all(Array.from({ length: count }, end));
}

const OK = 'HTTP/1.1 200 OK\r\n';

/** Behaviors of hostile or broken receivers. */
const HOSTILE: Record<string, does.Behaviour> = {
  hang: does.hang,
  reset: does.reset,
  'end-at-once': does.endConnection,
  'reset-in-headers': does.rawThenReset(`${OK}content-ty`),
  'hang-in-headers': does.rawThenHang(`${OK}content-ty`),
  'drip-headers': does.dripping(`${OK}x-drip: `, 'x'),
  'drip-body': does.dripping(`${OK}\r\n`, 'x'),
  'endless-headers': does.endless(OK, 'x-more: and more\r\n'),
  'endless-body': does.endless(`${OK}\r\n`, 'more '),
  'endless-hints': does.endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  'huge-header': does.raw(`${OK}x-huge: ${'x'.repeat(1_000_000)}\r\n\r\n`),
  'no-http': does.raw('220 mail.example.com ESMTP\r\n'),
  unauthorized: does.respondWith(401),
  gone: does.respondWith(410),
  'too-many': does.respondWith(429, { 'retry-after': '2' }),
};

const GOOD = '/good/';

/** Start receivers of every kind. The hostile ones share a port, so that hanging requests fill the queue of that host. */
async function startHostile() {
  const [hostile, good, elsewhere] = [await startReceiver(), await startReceiver(), await startReceiver()];
  const garbage = await startListener((socket) => socket.write(randomBytes(4_096)));
  const closed = await freePort();
  const redirect = does.respondWith(302, { location: elsewhere.script('/elsewhere', does.respondWith(204)) });
  const kinds = Object.entries({ ...HOSTILE, redirect });
  const unread = [`https://127.0.0.1:${garbage.port}${UNREAD}`, `http://127.0.0.1:${closed}${UNREAD}`];
  const paths: [receiver: typeof good, path: string][] = [];
  let nextKind = 0;
  const urlAt = (receiver: typeof good, path: string, behaviour: does.Behaviour) => {
    paths.push([receiver, path]);
    return receiver.script(path, behaviour);
  };
  return {
    /** Return a callback URL: every fourth has a good receiver, and the others have the bad ones in rotation. */
    urlFor(n: number): string {
      if (n % 4 === 0) return urlAt(good, `${GOOD}${n}`, does.respondWith(204));
      const [kind, behaviour] = kinds[nextKind++ % (kinds.length + unread.length)] ?? [];
      if (behaviour) return urlAt(hostile, `/${kind}/${n}`, behaviour);
      return `${unread[n % unread.length]}${n}`;
    },
    redirected: () => elsewhere.connections(), // Requests that followed a redirect.
    /** Record all requests in the history, and stop. */
    async stop(history: History): Promise<void> {
      for (const [receiver, path] of paths)
        for (const request of receiver.requestsTo(path)) writeReceived(history, request);
      await Promise.all([hostile, good, elsewhere, garbage].map((each) => each.close()));
    },
  };
}

const JOBS = 160; // In addition to the load.
const PAUSE_MS = 60;
const DELAYED_MS = 5_000; // A callback that has to wait for attempts at other hosts is at least 10 s late.
const MOST_MB = 300; // An idle scheduler has about 100 MB.

export const faults: Fault[] = [
  {
    name: 'F24',
    title: 'most callback receivers are hostile',
    promises: ['P6', 'P7'],
    stops: [],
    lastsMs: 5_000,
    async inject(context) {
      const { installation, call, random, history, found, atEnd } = context;
      const receivers = await startHostile();
      const endMemory = limitMemory(context, installation.schedulers, MOST_MB);
      atEnd(async () => {
        await receivers.stop(history);
        endMemory();
        if (receivers.redirected() > 0) found('a redirect was followed', { promise: 'P7' });
      });
      for (let i = 0; i < JOBS; i++) {
        const n = nextNumber();
        const limits = { maxRetries: 0, timeoutSeconds: 2, callbackUrl: receivers.urlFor(n) };
        const sent = { name: random.of(NAMES), payload: { n }, ...limits };
        await call({ client: 'producer-hostile', op: 'create', spaceId: random.of(SPACES), sent });
        await delay(PAUSE_MS);
      }
      return undefined;
    },
    expect: delayedCallbacks,
  },
];

/** Report callbacks to good receivers that were delayed by hostile ones. */
function delayedCallbacks({ history, dump, figures }: Run): Finding[] {
  const callbacks = history.ofKind('callback');
  const sent = dump.jobs.flatMap(({ id: jobId, events, callbackUrl }) => {
    const end = events.find(({ type }) => type === 'completed' || type === 'dead');
    const first = callbacks.find((callback) => callback.jobId === jobId);
    if (!callbackUrl?.includes(GOOD) || !end || !first) return [];
    const from = Date.parse(end.createdAt);
    return [{ jobId, during: { from, until: first.at }, ms: first.at - from }];
  });
  const times = sent.map(({ ms }) => ms).sort((a, b) => a - b);
  figures['good callbacks'] = times.length;
  figures['their median, ms'] = times[Math.floor(times.length / 2)] ?? 0;
  figures['their latest, ms'] = times.at(-1) ?? 0;
  return sent
    .filter(({ ms }) => ms > DELAYED_MS)
    .map(({ ms, ...found }) => ({ ...found, damage: 'late', says: `its callback came ${ms} ms after its end` }));
}
