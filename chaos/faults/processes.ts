import { CALLBACK_LEASE_MS } from '@yardmaster/store';
import type { Interception } from '../../test/support/redis/proxy-connection.js';
import type { Callback } from '../checker/history.js';
import type { AppProcess } from '../installation/app-process.js';
import { runs } from '../installation/scripts.js';
import type { Finding } from '../rules/rule.js';
import type { Fault, Run } from '../runs/fault.js';
import { lateTimeouts } from '../runs/measures.js';
import { within } from '../runs/waiting.js';
import { callBack } from './callbacks.js';

const killOne = (kind: 'apis' | 'gateways', lastsMs: number) =>
  ({
    stops: [kind === 'apis' ? 'api' : 'gateway'],
    lastsMs,
    async inject({ installation, random, affects }) {
      const app = random.of(installation[kind]);
      affects(app);
      await app.kill();
      return () => app.start();
    },
  }) satisfies Partial<Fault>;

const KILLS: [variant: string, when: string, script: string, action: Interception['action']][] = [
  ['before-sweep', 'in a sweep, before Redis gets the script', 'expire', 'lose request'],
  ['after-sweep', 'in a sweep, after Redis has run the script', 'expire', 'lose reply'],
  ['before-record', 'between a POST and its record', 'record_callback', 'lose request'],
  [
    'after-record',
    'after Redis has recorded the outcome of a POST, before it gets the reply',
    'record_callback',
    'lose reply',
  ],
];

const RUN_WITHIN_MS = 60_000; // Under load, each of these scripts runs many times a second.

/** Lose the request or the reply of the next run of a script. @returns scheduler that ran it; null for none */
async function loseNext(schedulers: AppProcess[], script: string, action: Interception['action']) {
  const waiting = schedulers.map((scheduler) => {
    const next = scheduler.proxy.intercept(runs(script), { action, end: 'silence' } as Interception);
    return { next, hit: next.happened.then(() => scheduler) };
  });
  const hit = await within(RUN_WITHIN_MS, Promise.race(waiting.map((one) => one.hit)));
  for (const { next } of waiting) next.cancel();
  return hit;
}

const schedulerKilled = ([variant, when, script, action]: (typeof KILLS)[number]): Fault => ({
  name: `F2-${variant}`,
  title: `a scheduler is killed ${when}`,
  promises: ['P4', 'P6'],
  stops: ['scheduler'],
  lastsMs: 2_000,
  async inject({ installation: { schedulers }, found }) {
    const hit = await loseNext(schedulers, script, action);
    if (hit === null) found(`no scheduler ran ${script} in ${RUN_WITHIN_MS} ms`);
    const killed = hit ?? (schedulers[0] as AppProcess);
    await killed.kill();
    killed.proxy.resetLost();
    return () => killed.start();
  },
  expect: lateTimeouts, // If the killed scheduler had the tick, the other one sweeps on its own.
});

const BACK_MS = 3_000; // Watchers reconnect immediately; the rest is for a slow machine.

/** Report watchers of spaces that were cut and did not get a new snapshot soon. Their streams never end on their own. */
function notBack({ history, outage: { from, until } }: Run): Finding[] {
  const streams = history.ofKind('stream').filter(({ scope }) => scope === 'space');
  const isBack = (name: string) =>
    streams.some(({ client, openedAt }) => client === name && openedAt >= from && openedAt <= until + BACK_MS);
  const clients = [...new Set(streams.map(({ client }) => client))].filter((client) => !isBack(client));
  return clients.map((client) => ({
    says: `${client} did not connect again`,
    during: { from: until, until: until + BACK_MS },
  }));
}

const UNDER_WAY = 12; // Attempts at callbacks that last as long as a receiver can take.
const TO_POST_MS = 2_000; // Maximum time from the lease of an attempt to its POST.

/** Report callbacks sent while another attempt was neither recorded nor without its lease (P6). */
function sentAtOnce({ history, dump }: Run): Finding[] {
  const latest = new Map<string, Callback>();
  const sorted = history.ofKind('callback').sort((a, b) => a.at - b.at);
  return sorted.flatMap((callback): Finding[] => {
    const { jobId, at, line } = callback;
    const before = latest.get(jobId);
    latest.set(jobId, callback);
    if (before === undefined || at - before.at > CALLBACK_LEASE_MS - TO_POST_MS) return [];
    const events = dump.jobs.find(({ id }) => id === jobId)?.events ?? [];
    const recordedAt = events.filter(({ type }) => type.startsWith('callback_')).map((e) => Date.parse(e.createdAt));
    if (recordedAt.some((recorded) => recorded >= before.at && recorded <= at)) return [];
    const says = `its callback was sent again after ${at - before.at} ms, while an attempt was under way`;
    return [{ promise: 'P6', damage: 'duplicated', jobId, says, lines: [before.line, line] }];
  });
}

export const faults: Fault[] = [
  { name: 'F1', title: 'an API is killed', promises: ['P1', 'P2', 'P3'], ...killOne('apis', 2_000) },
  ...KILLS.map(schedulerKilled),
  { name: 'F3', title: 'a gateway is killed', promises: ['P8'], ...killOne('gateways', 1_000), expect: notBack },
  {
    name: 'F28',
    title: 'one of three schedulers is killed, and another is paused',
    promises: ['P6', 'P4'],
    stops: ['scheduler'], // One of them remains, so attempts may be repeated, but no timeout is late.
    lastsMs: 18_000, // Longer than a lease, so that another scheduler takes the callback before the first one resumes.
    installation: { schedulers: 3 },
    async inject(context) {
      const { installation, random } = context;
      await callBack(context, UNDER_WAY, 'hangs first');
      const killed = random.of(installation.schedulers);
      const paused = random.of(installation.schedulers.filter((each) => each !== killed));
      await killed.kill();
      paused.pause();
      return async () => {
        paused.resume();
        await killed.start();
      };
    },
    expect: (run) => [...lateTimeouts(run), ...sentAtOnce(run)],
  },
];
