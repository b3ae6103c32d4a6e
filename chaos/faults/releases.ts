import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../test/support/until.js';
import type { AppProcess } from '../installation/app-process.js';
import { makeOtherRelease } from '../installation/release.js';
import { isScript, runs } from '../installation/scripts.js';
import { nextNumber } from '../load/own-jobs.js';
import type { Finding } from '../rules/rule.js';
import type { Fault, Run } from '../runs/fault.js';
import { cutsOtherThan, strayPrints, unserved } from '../runs/measures.js';
import { within } from '../runs/waiting.js';
import { callBack } from './callbacks.js';

const UNDER_WAY = 8; // Callbacks in flight, from any scheduler, when one gets SIGTERM.
const RUN_WITHIN_MS = 60_000; // Scripts run many times a second.

/** Report watchers of spaces whose last stream was cut. */
function notBack({ history }: Run): Finding[] {
  const ofSpaces = history.ofKind('stream').filter(({ scope }) => scope === 'space');
  const latest = [...new Map(ofSpaces.map((stream) => [stream.client, stream])).values()];
  const cut = latest.filter(({ closed }) => closed !== null);
  return cut.map(({ client, line }) => ({ says: `${client} did not connect again`, lines: [line] }));
}

const POLICY = 'allkeys-lru';
const SETTINGS_CHECKED_MS = 30_000; // Each process checks the settings of Redis this often.
const ROOM_BYTES = 500_000_000;

/** Count the warnings about the policy that a process has printed. */
const warnings = ({ output }: AppProcess) =>
  output().split(`maxmemory-policy is ${POLICY} but must be noeviction`).length - 1;

export const faults: Fault[] = [
  {
    name: 'F25',
    title: 'every process is terminated and restarted, one at a time',
    promises: ['P15', 'P4', 'P6', 'P8'],
    stops: ['hanging callbacks'], // Another process always remains, so no call fails and no timeout is late.
    closes: [1001],
    lastsMs: 500,
    installation: { gateways: 2 },
    async inject(context) {
      const { installation, found, figures } = context;
      for (const app of installation.apps) {
        if (installation.schedulers.includes(app)) await callBack(context, UNDER_WAY, 'is slow');
        const began = Date.now();
        const code = await app.terminate();
        const tookMs = Date.now() - began;
        figures['slowest exit, ms'] = Math.max(figures['slowest exit, ms'] ?? 0, tookMs);
        if (code !== 0) found(`${app.name} exited with ${code} after ${tookMs} ms`);
        await app.start();
        // Wait like a rollout, because a scheduler that has just started leaves timeouts to the other one.
        await until(async () => (await fetch(`${app.url}/readyz`)).ok);
      }
      return undefined;
    },
    expect: (run) => [
      ...cutsOtherThan(1001, run),
      ...notBack(run),
      ...unserved(run.history.ofKind('call'), 'another process was running', 'P15'),
    ],
  },
  {
    name: 'F30',
    title: 'two releases with other scripts run side by side',
    promises: ['P15', 'P16'],
    stops: [],
    lastsMs: 8_000,
    installation: { gateways: 2, makeOtherRelease },
    async inject({ installation: { apis }, found }) {
      // Both must work: one runs the scripts of this release, and the other runs different scripts.
      const [ours, theirs] = apis.map(({ proxy }) => proxy.intercept(runs('ack'), { action: 'observe' }));
      const other = apis[1]?.proxy.intercept(isScript, { action: 'observe' });
      const work = await within(RUN_WITHIN_MS, Promise.all([ours?.happened, other?.happened]));
      if (work === null) found('one of the releases does not work');
      return async () => {
        if (theirs?.at !== null) found('both releases have the same scripts');
        for (const one of [ours, theirs, other]) one?.cancel();
      };
    },
  },
  {
    name: 'F16-from-start',
    title: `maxmemory-policy is ${POLICY} when all processes start`,
    promises: ['P1'],
    stops: [],
    lastsMs: 3_000,
    installation: { redisLines: [`maxmemory-policy ${POLICY}`] },
    inject: async () => undefined,
    expect(run) {
      const { apps } = run.installation;
      const wrong = apps.filter((app) => warnings(app) !== 1);
      const found = wrong.map((app) => ({ says: `${app.name} warned ${warnings(app)} times about the policy` }));
      return [...strayPrints(apps), ...found];
    },
  },
  {
    name: 'F16-while-running',
    title: `maxmemory-policy becomes ${POLICY}, and a process of each kind restarts`,
    promises: ['P1', 'P12'],
    stops: ['hanging callbacks'],
    closes: [1001],
    lastsMs: 2_000,
    async inject({ installation: { connection, apis, gateways, schedulers }, found }) {
      await connection.config('SET', 'maxmemory-policy', POLICY);
      for (const app of [apis, gateways, schedulers].map(([first]) => first as AppProcess)) {
        await app.terminate();
        const earlier = warnings(app); // The process may have noticed the change before.
        await app.start();
        if (warnings(app) !== earlier + 1) found(`${app.name} did not warn about the policy`);
        await delay(500);
      }
      return async () => void (await connection.config('SET', 'maxmemory-policy', 'noeviction'));
    },
    expect: ({ installation }) => strayPrints(installation.apps),
  },
  {
    name: 'F16-with-limit',
    title: `maxmemory-policy becomes ${POLICY} while Redis has a memory limit`,
    promises: ['P1', 'P12'],
    stops: ['safety'],
    lastsMs: SETTINGS_CHECKED_MS,
    async inject({ installation, call, found }) {
      const { connection, apis } = installation;
      const stats = async (name: string) =>
        Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(await connection.info())?.[1]);
      await connection.config('SET', 'maxmemory', (await stats('used_memory')) + ROOM_BYTES);
      await connection.config('SET', 'maxmemory-policy', POLICY);
      const create = async (api: number) => {
        const sent = { name: 'unsafe', payload: { n: nextNumber() } };
        const { jobId, code } = await call({ client: 'producer', op: 'create', spaceId: 'unsafe', sent, api });
        if (jobId !== null) await call({ client: 'operator', op: 'kill', jobId, sent: { reason: jobId } });
        return code;
      };
      const response = (code: string | null) =>
        Promise.all(apis.map((_, api) => until(async () => (await create(api)) === code, 2 * SETTINGS_CHECKED_MS)));
      return async () => {
        await response('STORAGE_UNSAFE');
        await connection.config('SET', 'maxmemory-policy', 'noeviction');
        await response(null);
        if ((await stats('evicted_keys')) > 0) found('Redis has evicted keys');
      };
    },
  },
];
