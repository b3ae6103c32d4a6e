import { setTimeout as delay } from 'node:timers/promises';
import { type Tail, watchTail } from '../aof.js';
import type { Fault, Ground, Run } from '../fault.js';
import type { Span } from '../forgotten.js';
import type { Installation } from '../installation.js';

/** How long the power is off. */
const OFF_MS = 1_000;

/** For how long the file is watched before: what is older is on the disk. */
const WATCHED_MS = 2_500;

/** Since when nothing is sure, of each installation that lost something. */
const unsureSince = new WeakMap<Installation, number>();

/** Kill Redis, do to its file what the power cut does, and start it on what is left. */
async function powerCut({ installation }: Ground, damage: (tail: Tail) => Promise<void>) {
  const { redis, connection } = installation;
  const tail = await watchTail(connection);
  await delay(WATCHED_MS);
  await redis.kill();
  await tail.stop();
  await damage(tail);
  return () => redis.resume();
}

async function cutOff(tail: Tail, { installation, random, figures }: Ground): Promise<void> {
  const { bytes, keptUntil, died } = await tail.cut(random);
  unsureSince.set(installation, keptUntil);
  figures['bytes lost'] = bytes;
  figures['ms lost'] = died - keptUntil;
}

/** Until Redis is back nothing is answered that is kept. */
const forgotten = ({ installation, outage: { until } }: Run): Span[] => [
  { from: unsureSince.get(installation) as number, until },
];

/** How much of what clients were answered is gone. */
function measure(run: Run): void {
  const { history, dump, figures } = run;
  const [{ from, until }] = forgotten(run) as [Span];
  const kept = new Set(dump.jobs.map(({ id }) => id));
  const unsure = history.calls.filter(
    ({ outcome, answeredAt }) => outcome === 'ok' && answeredAt >= from && answeredAt <= until,
  );
  const created = unsure.filter(({ op }) => op === 'create');
  figures['jobs lost'] = created.filter(({ jobId }) => !kept.has(jobId as string)).length;
  figures['answers in doubt'] = unsure.filter(({ op, body }) => op !== 'poll' || body.jobs.length > 0).length;
}

const common = { promises: ['P1', 'P8', 'P16'], stops: ['redis'], lastsMs: OFF_MS } satisfies Partial<Fault>;

export const faults: Fault[] = [
  {
    ...common,
    id: 'F5',
    variant: 'everysec',
    title: 'a power cut takes the end of the append-only file',
    inject: (ground) => powerCut(ground, (tail) => cutOff(tail, ground)),
    expect(run) {
      measure(run);
      return [];
    },
    forgotten,
  },
  {
    ...common,
    id: 'F5',
    variant: 'always',
    title: 'with appendfsync always it takes a command that was being written',
    installation: { redisLines: ['appendfsync always'] },
    inject: (ground) => powerCut(ground, (tail) => tail.tear()),
  },
];
