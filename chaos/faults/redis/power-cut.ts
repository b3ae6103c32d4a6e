import { setTimeout as delay } from 'node:timers/promises';
import { watchTail } from '../../installation/append-only-file.js';
import type { Fault, FaultContext } from '../../runs/fault.js';

const OFF_MS = 1_000; // How long the power is off.
const WATCHED_MS = 2_500; // How long the file is watched before the cut. Older bytes are already on the disk.

let undoneSince = 0; // Effects since this time may be undone, epoch milliseconds. A process makes one run.

/** Kill Redis, damage its file as a power cut does, and start it again. */
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
      const late = created.filter(({ endedAt }) => endedAt >= undoneSince);
      figures['jobs lost'] = new Set(late.map(({ jobId }) => jobId).filter(isGone)).size;
      return [];
    },
    // Effects are lost until Redis is back.
    undone: ({ outage: { until } }) => [{ from: undoneSince, until }],
  },
  {
    ...common,
    name: 'F5-always',
    title: 'a power cut takes a command that was being written, with appendfsync always',
    installation: { redisLines: ['appendfsync always'] },
    inject: (context) => powerCut(context, 'tear'),
  },
];
