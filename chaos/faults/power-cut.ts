import { setTimeout as delay } from 'node:timers/promises';
import { watchTail } from '../installation/append-only-file.js';
import type { Fault, FaultContext } from '../runs/fault.js';

const OFF_MS = 1_000; // How long the power is off.
const WATCHED_MS = 2_500; // How long the file is watched before. What is older is on the disk.

let undoneSince = 0; // Since when responses may be undone, epoch milliseconds. A process makes one run.

/** Kill Redis, do to its file what the power cut does, and start it on what is left. */
async function powerCut({ installation, random }: FaultContext, damage: 'cut' | 'tear') {
  const { redis, connection } = installation;
  const tail = await watchTail(connection);
  await delay(WATCHED_MS);
  await redis.kill();
  await tail.stop();
  if (damage === 'cut') undoneSince = await tail.cut(random);
  else await tail.tear();
  return () => redis.resume();
}

const common = { promises: ['P1', 'P8', 'P16'], stops: ['redis'], lastsMs: OFF_MS } as const;

export const faults: Fault[] = [
  {
    ...common,
    name: 'F5-everysec',
    title: 'a power cut takes the end of the append-only file',
    inject: (context) => powerCut(context, 'cut'),
    expect({ history, dump, figures }) {
      const isGone = (jobId: string | null) => !dump.jobs.some(({ id }) => id === jobId);
      const created = history.ofKind('call').filter(({ op, outcome }) => op === 'create' && outcome === 'ok');
      const late = created.filter(({ answeredAt }) => answeredAt >= undoneSince);
      figures['jobs lost'] = late.filter(({ jobId }) => isGone(jobId)).length;
      return [];
    },
    // Until Redis is back nothing that is answered is kept.
    forgotten: ({ outage: { until } }) => [{ from: undoneSince, until }],
  },
  {
    ...common,
    name: 'F5-always',
    title: 'with appendfsync always it takes a command that was being written',
    installation: { redisLines: ['appendfsync always'] },
    inject: (context) => powerCut(context, 'tear'),
  },
];
