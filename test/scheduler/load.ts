import { expect } from '@jest/globals';
import { answer } from '../support/behaviours.js';
import { attemptsOf, historyOf, readJob, sent } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import type { Receiver } from '../support/receiver.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';

/** For a service that is to meet a load. */
export const LOAD_ENV = { DELIVERY_TIMEOUT_SECONDS: '3', CALLBACK_RETRY_DELAYS: '2' };
const WINDOW_MS = 3_000;
/** With the jitter of 20 %. */
const RETRY_AT_MOST_MS = 2_400;

/** After the end of a fault nothing may be late by more than 5 s; the rest is for a busy machine. */
const LATE_AT_MOST_MS = 8_000;

interface Event {
  type: string;
  createdAt: string;
}

/** A job that waits for a scheduler, and when that has something to do for it. */
interface Duty {
  id: string;
  /** The last of its events, once all is done. */
  ends: string;
  /** Statuses of the POSTs that its history must show. */
  statuses: number[];
  /** Path at the receiver; undefined without a callback. */
  path?: string;
}

export interface Load {
  service: TestService;
  receiver: Receiver;
  duties: Duty[];
}

const times = <T>(count: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));
const timeOf = (event: Event | undefined) => Date.parse(event?.createdAt as string);
const attemptsWith = (statuses: number[]) => statuses.map((status, i) => sent(status, i + 1, i + 1 < statuses.length));

let loads = 0;

/**
 * Make work of every kind: workers that fall silent, jobs that nobody acks, callbacks that wait for their retry, and
 * jobs that will die and then have a callback. It is due from a second after, by when the fault should have begun, until
 * `spreadMs` later.
 */
export async function makeLoad(service: TestService, receiver: Receiver, spreadMs: number): Promise<Load> {
  const load = `load-${++loads}`;
  const timeoutSeconds = (n: number, of: number) => 1 + (spreadMs / 1_000) * (n / of);
  const callback = (path: string, ...statuses: number[]) => ({
    path,
    statuses,
    callbackUrl: receiver.script(path, ...statuses.map((status) => answer(status))),
  });

  const retried = times(15, async (n) => {
    const { path, statuses, callbackUrl } = callback(`/${load}/retry-${n}`, 503, 204);
    const id = await jobIn(service, 'completed', `${load}-${n % 4}`, { callbackUrl });
    return { id, ends: 'callback_sent', statuses, path };
  });
  for (const { id } of await retried) await until(async () => attemptsOf(await readJob(service, id)).length > 0);

  const silent = times(30, async (n) => {
    const id = await jobIn(service, 'running', `${load}-${n % 4}`, { timeoutSeconds: timeoutSeconds(n, 30) });
    return { id, ends: 'retried', statuses: [] };
  });
  const doomed = times(15, async (n) => {
    const { path, statuses, callbackUrl } = callback(`/${load}/dead-${n}`, 204);
    const fields = { timeoutSeconds: timeoutSeconds(n, 15), maxRetries: 0, callbackUrl };
    const id = await jobIn(service, 'running', `${load}-${n % 4}`, fields);
    return { id, ends: 'callback_sent', statuses, path };
  });
  const forgotten = times(10, async (n) => {
    const id = await jobIn(service, 'delivered', `${load}-${n % 4}`);
    return { id, ends: 'delivery_timeout', statuses: [] };
  });
  return { service, receiver, duties: (await Promise.all([retried, silent, doomed, forgotten])).flat() };
}

/** When each event of a job that a scheduler makes was due, by the event before it. */
function dueAt(events: Event[], n: number, timeoutSeconds: number): number | null {
  const before = timeOf(events[n - 1]);
  const { type } = events[n] as Event;
  if (type === 'delivery_timeout') return before + WINDOW_MS;
  if (type === 'retried' || type === 'dead') return before + timeoutSeconds * 1_000;
  if (type !== 'callback_sent') return null;
  return events[n - 1]?.type === 'callback_sent' ? before + RETRY_AT_MOST_MS : before;
}

/** What a job's schedulers did too early or too late, a sentence each. */
function untimely(job: { id: string; events: Event[]; timeoutSeconds: number }, healedMs: number): string[] {
  const faults: string[] = [];
  for (let n = 1; n < job.events.length; n++) {
    const { type } = job.events[n] as Event;
    const due = dueAt(job.events, n, job.timeoutSeconds);
    const at = timeOf(job.events[n]);
    if (due === null) continue;
    const lateMs = at - Math.max(due, healedMs);
    if (lateMs > LATE_AT_MOST_MS) faults.push(`${type} of ${job.id} is ${lateMs} ms late`);
    // A callback's due time is the latest that the jitter allows.
    if (at <= due && type !== 'callback_sent') faults.push(`${type} of ${job.id} is ${due - at} ms early`);
  }
  return faults;
}

/**
 * Wait until everything of a load is done, and expect that it was done once, never early, and not late.
 *
 * @param healedMs Redis' clock when the fault was over: until then everything may wait
 */
export async function expectDone({ service, receiver, duties }: Load, healedMs: number): Promise<void> {
  for (const { id, ends, statuses, path } of duties) {
    const isDone = ({ events }: { events: Event[] }) =>
      events.at(-1)?.type === ends && attemptsOf({ events }).length === statuses.length;
    await until(async () => isDone(await readJob(service, id)), 40_000);
    const job = await readJob(service, id);
    expect(untimely(job, healedMs)).toEqual([]);
    expect(attemptsOf(job)).toEqual(historyOf(job.callbackUrl, attemptsWith(statuses)));
    expect(job.events.filter(({ type }: Event) => type === ends)).toHaveLength(statuses.length || 1);
    if (path) expect(receiver.requestsTo(path)).toHaveLength(statuses.length);
  }
}
