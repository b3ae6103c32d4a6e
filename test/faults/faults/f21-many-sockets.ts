import { until } from '../../support/until.js';
import type { Fault, Ground } from '../fault.js';
import { type CrowdTold, startCrowd } from '../load/crowd.js';
import { watchMemory } from '../memory.js';
import { repeat } from '../repeat.js';

const SPACE = 'yard-crowd';

/** Jobs that the crowd watches; they end while it does. */
const JOBS = 10;

/** So long as it takes to open them all on a busy machine. */
const TIMEOUT_SECONDS = 120;

const MANY = [2_000, 10_000];

export const faults: Fault[] = MANY.map((sockets) => ({
  id: 'F21',
  variant: String(sockets),
  title: `${sockets} sockets watch`,
  promises: ['P10', 'P8'],
  stops: [],
  lastsMs: 1_000,
  async inject(ground) {
    const { installation, found, figures, atEnd } = ground;
    const memory = watchMemory(installation.gateways);
    const crowd = startCrowd();
    atEnd(() => crowd.stop());
    const jobs = await startJobs(ground);
    const stopBeating = repeat(TIMEOUT_SECONDS * 200, () => beat(ground, jobs));
    const began = Date.now();
    // A tenth watches the space, and has to leave by itself.
    for (let n = 0; n < sockets; n++) {
      const { url } = installation.gateways[n % installation.gateways.length] as { url: string };
      const path = n % 10 === 0 ? `spaces/${SPACE}` : jobs[Math.floor(n / 10) % JOBS];
      crowd.watch(`${url.replace('http', 'ws')}/api/v1/realtime/${path}?token=${installation.key}`);
    }
    await until(() => crowd.told.open + crowd.told.refused >= sockets, 90_000).catch(() => undefined); // Told here:
    const { open, refused } = crowd.told;
    Object.assign(figures, { open, 'opened in, ms': Date.now() - began, 'gateway MB': memory.mostMb });
    if (open < sockets) found({ jobId: null, says: `of ${sockets} sockets ${open} are open, ${refused} were refused` });

    await stopBeating();
    for (const jobId of jobs) await say(ground, { op: 'complete', jobId, sent: { result: { token: 'crowd' } } });
    const ofSpace = Math.ceil(sockets / 10);
    const ofJobs = open - ofSpace;
    const isTold = ({ ends, codes }: CrowdTold) => ends.completed === ofJobs + ofSpace * JOBS && codes[1000] === ofJobs;
    await until(() => isTold(crowd.told), 30_000).catch(() => undefined);
    if (!isTold(crowd.told))
      found({ jobId: null, says: `not all ${ofJobs} and ${ofSpace} heard of the end: ${JSON.stringify(crowd.told)}` });
    crowd.close();
    await until(() => crowd.told.open === 0, 30_000).catch(() => undefined);
    if (crowd.told.open > 0) found({ jobId: null, says: `${crowd.told.open} sockets could not be closed` });
    memory.stop();
    return async () => undefined;
  },
}));

const CLIENT = 'crowd';

const say = ({ call }: Ground, request: { op: 'ack' | 'keepalive' | 'complete'; jobId: string; sent?: unknown }) =>
  call({ client: CLIENT, attempt: 0, ...request });

async function startJobs(ground: Ground): Promise<string[]> {
  const jobs: string[] = [];
  for (let n = 0; n < JOBS; n++) {
    const sent = { name: CLIENT, payload: {}, maxRetries: 0, timeoutSeconds: TIMEOUT_SECONDS };
    const { jobId } = await ground.call({ client: CLIENT, op: 'create', spaceId: SPACE, sent });
    if (jobId === null) throw new Error('no job for a crowd to watch');
    await ground.call({ client: CLIENT, op: 'claim', jobId });
    await say(ground, { op: 'ack', jobId });
    jobs.push(jobId);
  }
  return jobs;
}

async function beat(ground: Ground, jobs: readonly string[]): Promise<void> {
  for (const jobId of jobs) await say(ground, { op: 'keepalive', jobId });
}
