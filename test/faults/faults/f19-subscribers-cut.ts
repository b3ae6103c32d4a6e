import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Ground } from '../fault.js';
import { endJob, runJob } from '../load/call-back.js';
import { useKey } from '../load/key-user.js';
import { spacesApart } from '../load/spaces-apart.js';
import { isReady } from '../lost-replies/serving.js';
import { repeat } from '../repeat.js';
import { BUSY_MS, judgeRevoked, makeReader, revoke } from '../revocation.js';
import { otherEnds } from '../stream-ends.js';

/** So long a revocation may take that is announced. */
const REVOKED_MS = 1_000;

/** More than there is time for. */
const KILLS_AT_MOST = 30;

export const faults: Fault[] = [
  {
    id: 'F19',
    title: 'all subscriber connections are killed every second',
    promises: ['P8', 'P14', 'P6'],
    stops: [], // Calls, time-outs and callbacks need none of them.
    closes: [1012],
    lastsMs: 12_000,
    async inject(ground) {
      const { installation, figures } = ground;
      const spaces = spacesApart(KILLS_AT_MOST);
      let killed = 0;
      const stopKilling = repeat(1_000, async () => {
        const jobId = await runJob(ground, { spaceId: spaces.pop() as string, receiving: 'answers' });
        killed += Number(await installation.connection.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
        // Nobody hears that its callback is owed, and nothing else in its partition has anybody look there.
        await endJob(ground, jobId);
        figures['connections killed'] = killed;
      });
      return async () => {
        await stopKilling();
        await revokeOne(ground);
      };
    },
    expect: (run) => otherEnds(run, 1012),
  },
];

/** Announcements are heard again by everybody: a key that is revoked now is of no use within the time for those. */
async function revokeOne(ground: Ground): Promise<void> {
  const { installation } = ground;
  await Promise.all(installation.apps.map(({ url }) => isReady(url)));
  const key = await makeReader(installation);
  const user = await useKey(installation, { ...key, streams: 'held' });
  await revoke(installation, key.id);
  const revokedAt = Date.now();
  await delay(REVOKED_MS + 2 * BUSY_MS);
  const stoppedAt = Date.now();
  await user.stop();
  judgeRevoked(ground, { use: user.use, revokedAt, stoppedAt, withinMs: REVOKED_MS });
}
