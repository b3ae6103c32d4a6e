import type { Fault, Run } from '../fault.js';
import { callBack } from '../load/call-back.js';
import type { Found } from '../rules/rule.js';
import { otherEnds } from '../stream-ends.js';

/** Callbacks that are being sent, by this process or by another, when a scheduler is told to stop. */
const UNDER_WAY = 8;

export const faults: Fault[] = [
  {
    id: 'F25',
    title: 'every process is terminated and started again, one by one',
    promises: ['P15', 'P4', 'P6', 'P8'],
    stops: ['hanging callbacks'], // There is always another process, so no call fails and no time-out is late.
    closes: [1001],
    lastsMs: 500,
    installation: { gateways: 2 },
    async inject(ground) {
      const { installation, found, figures } = ground;
      for (const app of installation.apps) {
        const { name, terminate, start } = app;
        if (installation.schedulers.includes(app)) await callBack(ground, UNDER_WAY, 'is slow');
        const began = Date.now();
        const code = await terminate();
        const tookMs = Date.now() - began;
        figures['slowest exit, ms'] = Math.max(figures['slowest exit, ms'] ?? 0, tookMs);
        if (code !== 0) found({ jobId: null, says: `${name} exited with ${code} after ${tookMs} ms` });
        await start();
      }
      return async () => undefined;
    },
    expect: (run) => [...otherEnds(run, 1001), ...notBack(run), ...notServed(run)],
  },
];

/** Watchers of spaces whose stream was closed and who got no other one. */
function notBack({ history }: Run) {
  const ofSpaces = history.entries.filter((entry) => entry.kind === 'stream').filter(({ scope }) => scope === 'space');
  const latest = new Map(ofSpaces.map((stream) => [stream.client, stream]));
  return [...latest.values()]
    .filter(({ closed }) => closed !== null)
    .map(({ client, line }) => ({ jobId: null, says: `${client} did not get back in`, lines: [line] }));
}

/** Calls that were not answered, or with 503, though somebody was there for each at any time. */
function notServed({ history }: Run): Found[] {
  return history.calls
    .filter(({ outcome }) => outcome === 'unknown')
    .map(({ jobId, op, status, body, line }) => ({
      promise: 'P15',
      jobId,
      says: `${op} was not served: ${status ?? body}`,
      lines: [line],
    }));
}
