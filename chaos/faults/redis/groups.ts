import { partitionOf } from '@yardmaster/store';
import { HttpClient } from '../../../test/support/http.js';
import type { Installation } from '../../installation/installation.js';
import { nextNumber } from '../../load/own-jobs.js';
import type { Fault, FaultContext, Heal } from '../../runs/fault.js';
import { repeat } from '../../runs/waiting.js';
import { effectsOfMoves, LOADED, moveSlots } from './cluster.js';

const JOBS = 12; // Per burst. Their calls arrive at the same moment at one API, which sends them as a group.
const PAUSE_MS = 40; // Pause between bursts.
const CLIENT = 'groups';

/** A space that no worker polls in each partition whose slot moves. */
const QUIET = LOADED.map((partition) => {
  for (let n = 0; ; n++) if (partitionOf(`groups-${n}`) === partition) return `groups-${n}`;
});

/** Run some jobs, making each step of all of them at the same moment. A job whose slot is moving may be left behind. */
async function burst({ call, random }: FaultContext, left: Set<string>): Promise<void> {
  const [spaceId, api, token] = [random.of(QUIET), random.between(0, 1), `burst-${nextNumber()}`];
  const create = () =>
    call({
      client: CLIENT,
      op: 'create',
      spaceId,
      api,
      sent: { name: CLIENT, payload: { n: nextNumber() }, maxRetries: 0 },
    });
  const created = await Promise.all(Array.from({ length: JOBS }, create));
  let ids = created.flatMap(({ jobId }) => jobId ?? []);
  for (const id of ids) left.add(id);
  const steps = [
    ['claim', undefined],
    ['ack', undefined],
    ['progress', { percent: 50, message: token }],
    ['complete', { result: { token } }],
  ] as const;
  for (const [op, sent] of steps) {
    const calls = await Promise.all(ids.map((jobId) => call({ client: CLIENT, op, jobId, api, sent })));
    ids = ids.filter((_, i) => calls[i]?.outcome === 'ok');
  }
  for (const id of ids) left.delete(id);
}

async function moveUnderGroups(context: FaultContext): Promise<Heal> {
  const { call, figures, installation } = context;
  const heal = await moveSlots(context);
  const left = new Set<string>();
  const stop = repeat(PAUSE_MS, () => burst(context, left));
  return async () => {
    await stop();
    await heal();
    for (const jobId of left) await call({ client: CLIENT, op: 'kill', jobId, sent: { reason: jobId } });
    figures['jobs left behind'] = left.size;
    figures.groups = await groupsSent(installation);
  };
}

/** Count the groups that the APIs have sent. */
async function groupsSent({ apis }: Installation): Promise<number> {
  let sum = 0;
  for (const { url } of apis) {
    const client = new HttpClient(url);
    const { text } = await client.call('GET', '/metrics');
    client.close();
    sum += Number(/^yardmaster_redis_request_duration_seconds_count\{[^}]*"group"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
  }
  return sum;
}

export const faults: Fault[] = [
  {
    name: 'F9-groups',
    title: 'slots move from primary to primary of a cluster while groups of calls are under way',
    promises: ['P2', 'P3', 'P12', 'P16'],
    stops: ['redis'],
    installation: { isCluster: true },
    lastsMs: 8_000,
    inject: moveUnderGroups,
    expect: (run) => [
      ...effectsOfMoves(run),
      ...((run.figures.groups ?? 0) > 100 ? [] : [{ says: `the APIs have sent ${run.figures.groups} groups` }]),
    ],
  },
];
