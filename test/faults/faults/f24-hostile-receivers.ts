import { setTimeout as delay } from 'node:timers/promises';
import { answer } from '../../support/behaviours.js';
import { startReceiver } from '../../support/receiver.js';
import type { Fault, Run } from '../fault.js';
import { startHostile } from '../load/hostile.js';
import { NAMES, SPACES } from '../load/plan.js';
import { writeReceived } from '../load/receivers.js';
import { median } from '../median.js';
import { watchMemory } from '../memory.js';
import type { Found } from '../rules/rule.js';

/** Jobs created here, beside those of the load; of each four one has a good receiver. */
const JOBS = 160;
const PAUSE_MS = 60;

/** Numbers of jobs of which the load has no plan before: any will do. */
const FIRST = 1_000_000;

/** One that waits for the hosts of others would wait for the 10 s of an attempt at least. */
const HELD_UP_MS = 5_000;

/** A scheduler has some 100 MB at rest. */
const MOST_MB = 300;

const GOOD = '/good/';

export const faults: Fault[] = [
  {
    id: 'F24',
    title: 'most receivers of callbacks are hostile',
    promises: ['P6', 'P7'],
    stops: [],
    lastsMs: 5_000,
    drainMs: 120_000, // Four attempts of 10 s, and the line of a host is 32 long.
    async inject({ installation, call, random, history, found, figures, atEnd }) {
      const hostile = await startHostile();
      const good = await startReceiver();
      const memory = watchMemory(installation.schedulers);
      atEnd(async () => {
        for (let n = FIRST; n < FIRST + JOBS; n++)
          for (const request of good.requestsTo(`${GOOD}${n}`)) writeReceived(history, request);
        await good.close();
        await hostile.stop(history);
        memory.stop();
        figures['scheduler MB'] = memory.mostMb;
        if (memory.mostMb > MOST_MB) found({ jobId: null, says: `a scheduler held ${memory.mostMb} MB` });
        if (hostile.redirected() > 0) found({ jobId: null, promise: 'P7', says: 'a redirect was followed' });
      });
      for (let n = FIRST; n < FIRST + JOBS; n++) {
        const callbackUrl = n % 4 === 0 ? good.script(`${GOOD}${n}`, answer(204)) : hostile.next();
        const sent = { name: random.of(NAMES), payload: { n }, maxRetries: 0, timeoutSeconds: 2, callbackUrl };
        await call({ client: 'producer-hostile', op: 'create', spaceId: random.of(SPACES), sent });
        await delay(PAUSE_MS);
      }
      return async () => undefined;
    },
    expect: heldUp,
  },
];

/** Good receivers are told at once, whatever others do. */
function heldUp({ history, dump, figures }: Run): Found[] {
  const callbacks = history.entries.filter((entry) => entry.kind === 'callback');
  const good = dump.jobs.filter(({ callbackUrl }) => callbackUrl?.includes(GOOD));
  const told = good.flatMap(({ id, events }) => {
    const end = events.find(({ type }) => type === 'completed' || type === 'dead');
    const first = callbacks.find(({ jobId }) => jobId === id);
    return end && first ? [{ jobId: id, lateMs: first.at - Date.parse(end.createdAt) }] : [];
  });
  const late = told.map(({ lateMs }) => lateMs);
  figures['good callbacks'] = told.length;
  figures['their median, ms'] = median(late);
  figures['their latest, ms'] = Math.max(0, ...late);
  return told
    .filter(({ lateMs }) => lateMs > HELD_UP_MS)
    .map(({ jobId, lateMs }) => ({ jobId, damage: 'late', says: `its callback came ${lateMs} ms after its end` }));
}
