import { until } from '../../support/until.js';
import type { Ground } from '../fault.js';
import type { Receiving } from './plan.js';

const CLIENT = 'ender';

/** No worker polls it. */
const SPACE = 'called-back';

/** Until the last of some callbacks is begun, among those of the load. */
const BEGUN_MS = 20_000;

let jobs = 3_000_000; // Numbers that no job of the load has.

/** Have some jobs run and end, and wait until an attempt at the callback of each has begun. */
export async function callBack(ground: Ground, count: number, receiving: Receiving): Promise<void> {
  const { store, connection } = ground.installation;
  await Promise.all(
    Array.from({ length: count }, async () => {
      const jobId = await runJob(ground, { spaceId: SPACE, receiving });
      await endJob(ground, jobId);
      const begun = ['callbackLeasedUntil', 'callbackAttempts'];
      await until(
        async () => (await connection.hmget(store.keys.job(jobId), ...begun)).some((field) => field !== null),
        BEGUN_MS,
      );
    }),
  );
}

/** Have a job run in a space that no worker polls. @returns its id */
export async function runJob(
  { call, load }: Ground,
  { spaceId, receiving }: { spaceId: string; receiving: Receiving },
): Promise<string> {
  const n = jobs++;
  const sent = { name: 'ended', payload: { n }, timeoutSeconds: 60, callbackUrl: load.callbackUrl(n, receiving) };
  const { jobId } = (await call({ client: CLIENT, op: 'create', spaceId, sent })) as { jobId: string };
  for (const op of ['claim', 'ack'] as const) await call({ client: CLIENT, op, jobId });
  return jobId;
}

/** Have it end, so that its callback is owed. */
export async function endJob({ call }: Ground, jobId: string): Promise<void> {
  await call({ client: CLIENT, op: 'complete', jobId, sent: { result: { token: `end of ${jobId}` } } });
}
