import { handOver } from '../../support/redis/slots.js';
import { until } from '../../support/until.js';
import type { Fault, Ground, Run } from '../fault.js';
import { slowestAnswer, strayPrints } from '../measures.js';
import type { Found } from '../rules/rule.js';
import { clusterOf, LOADED, learnSlots, slotOfTag } from '../shards.js';

export const faults: Fault[] = [
  {
    id: 'F9',
    variant: 'switch',
    title: 'each primary of a cluster hands over to its replica, as before an upgrade',
    promises: ['P1', 'P12', 'P15'],
    // Time-outs may be late: BullMQ misses a tick that its primary has on its mind.
    stops: ['redis'],
    lastsMs: 0,
    installation: { isCluster: true },
    inject: switchAll,
    expect(run) {
      run.figures['slowest answer, ms'] = slowestAnswer(run);
      return [...unserved(run), ...strayPrints(run)];
    },
  },
];

/** CLUSTER FAILOVER, one primary after the other: nothing is away for longer than a call may take. */
async function switchAll({ installation, figures }: Ground): Promise<() => Promise<void>> {
  const cluster = clusterOf(installation);
  for (const partition of LOADED) {
    const slot = await slotOfTag(cluster, partition);
    const began = Date.now();
    const old = await handOver(cluster, slot);
    figures['longest switch, ms'] = Math.max(figures['longest switch, ms'] ?? 0, Date.now() - began);
    await until(async () => (await old.roleNow()) === 'replica');
  }
  return () => learnSlots(installation);
}

/** No call fails, neither while a primary hands over nor once it is a replica. */
const unserved = ({ history }: Run): Found[] =>
  history.calls
    .filter(({ outcome }) => outcome === 'unknown')
    .map(({ op, jobId, line, status, code, body }) => ({
      jobId,
      says: `${op} was not served: ${status ?? body} ${code ?? ''}`,
      promise: 'P12',
      lines: [line],
    }));
