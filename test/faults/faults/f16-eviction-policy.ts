import { setTimeout as delay } from 'node:timers/promises';
import type { AppProcess } from '../app-process.js';
import type { Fault } from '../fault.js';
import { unanswered } from '../measures.js';
import type { Found } from '../rules/rule.js';

const POLICY = 'allkeys-lru';

/** What a process says at its start. */
const WARNING = `maxmemory-policy is ${POLICY}, it must be noeviction`;

const warned = ({ output }: AppProcess) => output().split(WARNING).length - 1;

const isJson = (line: string) => /^\{.*\}$/.test(line);

/** Operators read what processes print by machine: no library may say it in words of its own. */
const unreadable = (apps: readonly AppProcess[]): Found[] =>
  apps.flatMap(({ name, output }) =>
    output()
      .split('\n')
      .filter((line) => line !== '' && line !== '--- started again' && !isJson(line))
      .slice(0, 3)
      .map((line) => ({ jobId: null, says: `${name} printed: ${line}` })),
  );

export const faults: Fault[] = [
  {
    id: 'F16',
    variant: 'from-start',
    title: `maxmemory-policy is ${POLICY} when all start`,
    promises: ['P1'],
    stops: [],
    lastsMs: 3_000,
    installation: { redisLines: [`maxmemory-policy ${POLICY}`] },
    async inject() {
      return async () => undefined;
    },
    expect: (run) => [
      ...unanswered(run),
      ...unreadable(run.installation.apps),
      ...run.installation.apps
        .filter((app) => warned(app) !== 1)
        .map((app) => ({ jobId: null, says: `${app.name} warned ${warned(app)} times of the policy` })),
    ],
  },
  {
    id: 'F16',
    variant: 'while-running',
    title: `maxmemory-policy becomes ${POLICY}, and a process of each kind starts anew`,
    promises: ['P1', 'P12'],
    stops: ['hanging callbacks'],
    closes: [1001],
    lastsMs: 2_000,
    async inject({ installation: { connection, apis, gateways, schedulers }, found }) {
      await connection.config('SET', 'maxmemory-policy', POLICY);
      for (const app of [apis, gateways, schedulers].map(([first]) => first as AppProcess)) {
        await app.terminate();
        await app.start();
        if (warned(app) !== 1) found({ jobId: null, says: `${app.name} did not warn of the policy` });
        await delay(500);
      }
      return async () => void (await connection.config('SET', 'maxmemory-policy', 'noeviction'));
    },
    expect: ({ installation }) => unreadable(installation.apps),
  },
];
