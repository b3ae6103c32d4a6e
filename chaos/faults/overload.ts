import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listJobsQuery } from '@yardmaster/protocol';
import { ANY_SPACE, listJobs } from '@yardmaster/store';
import { limitCpu } from '../../test/support/slow-process.mjs';
import { nextNumber } from '../load/own-jobs.js';
import * as raw from '../load/raw-requests.js';
import type { Fault, FaultContext } from '../runs/fault.js';
import { callsDuring, limitMemory } from '../runs/measures.js';

const MOST_MB = 400; // An API has about 120 MB under load, plus up to 150 MB for pipelined requests.
const PIPELINES = 10; // Connections to each API with a correct key, and the same number with a wrong key.
const AT_ONCE = 200; // Requests per write: 64 KB, which is what Node.js reads at a time.

const poll = (key: string) => `${raw.headOf(raw.POLL, { 'x-api-key': key, 'content-length': 0 })}\r\n`;

/**
 * Pipeline polls of an empty space as fast as the API reads them, and reconnect when it cuts the connection.
 *
 * @returns function that stops it
 */
function pipeline(url: string, key: string): () => void {
  const { hostname, port } = new URL(url);
  const piece = poll(key).replace('yard-a', 'pipelined').repeat(AT_ONCE);
  let isOver = false;
  let socket: net.Socket;
  function connect() {
    if (isOver) return;
    socket = net.connect(Number(port), hostname);
    const write = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', write).on('error', () => undefined);
    socket.once('connect', write).once('end', () => socket.destroy());
    socket.once('close', connect).resume();
  }
  connect();
  return () => {
    isOver = true;
    socket.destroy();
  };
}

const REDIS_SHARE = 0.02; // Share of a core, which is too little for the load.
const REDIS_PERIOD_MS = 100;
const SENDERS = 800; // Producers, each of which creates jobs sequentially.
const OVERLOAD_MS = 6_000;
const KILLS_AT_ONCE = 20;

/** Create jobs sequentially until a time. */
async function produce({ call }: FaultContext, sender: number, until: number): Promise<void> {
  while (Date.now() < until) {
    const sent = { name: 'overload', payload: { n: nextNumber() } };
    const { outcome } = await call({ client: `producer-${sender}`, op: 'create', spaceId: 'overload', sent });
    if (outcome !== 'ok') await delay(100); // Much less than Retry-After.
  }
}

/** Kill the jobs of the overload, so that the run can drain. Jobs whose creates had no response are only in the store. */
async function killAll({ call, installation: { store } }: FaultContext): Promise<void> {
  const query = listJobsQuery.parse({ status: 'pending', limit: `${KILLS_AT_ONCE}` });
  for (;;) {
    const { jobs } = await listJobs(store, ANY_SPACE, 'overload', query);
    if (jobs.length === 0) return;
    await Promise.all(jobs.map(({ id }) => call({ client: 'operator', op: 'kill', jobId: id, sent: { reason: id } })));
  }
}

export const faults: Fault[] = [
  {
    name: 'F31',
    title: `${2 * PIPELINES} connections to each API pipeline polls endlessly, half of them with a wrong key`,
    promises: ['P12', 'P13'],
    stops: [],
    lastsMs: 8_000,
    async inject(context) {
      const { apis, key } = context.installation;
      const endMemory = limitMemory(context, apis, MOST_MB);
      const ends = apis.flatMap(({ url }) =>
        Array.from({ length: PIPELINES }, () => [pipeline(url, key), pipeline(url, 'wrong')]).flat(),
      );
      return async () => {
        for (const end of ends) end();
        endMemory();
      };
    },
  },
  {
    name: 'F32',
    title: `Redis has ${REDIS_SHARE * 100}% of a core while ${SENDERS} producers create as many jobs as they can`,
    promises: ['P1', 'P3', 'P12'],
    stops: ['redis', 'capacity'], // Some calls get no response in time
    lastsMs: 0,
    async inject(context) {
      const { installation } = context;
      const free = limitCpu(installation.redis.pid, REDIS_SHARE, REDIS_PERIOD_MS);
      try {
        const until = Date.now() + OVERLOAD_MS;
        await Promise.all(Array.from({ length: SENDERS }, (_, sender) => produce(context, sender, until)));
      } finally {
        free();
      }
      return () => killAll(context);
    },
    expect(run) {
      const refused = callsDuring(run).filter(({ code }) => code === 'OVERLOADED');
      run.figures['refused as overloaded'] = refused.length;
      return refused.length > 0 ? [] : [{ says: 'nothing was refused, so Redis was not overloaded' }];
    },
  },
];
