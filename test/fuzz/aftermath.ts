import { readFileSync } from 'node:fs';
import { yardmaster } from '../cli/yardmaster.js';
import { fsck } from '../support/fsck.js';
import { until } from '../support/until.js';
import type { FuzzedService, Inspector } from './service.js';

/** Lines that no client may bring a process to write, whatever it sends. */
const BAD_LINE = /request failed|unhandled|uncaught|"level":(50|60)|DeprecationWarning|MaxListeners|FATAL/i;

const PREFIX = 'ym';

/** Connections of the API that are not closed: established, or closed by the other end alone. */
function openSockets(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return rows.filter(([, from, , state]) => from?.endsWith(local) && (state === '01' || state === '08')).length;
}

async function socketComplaints({ port }: FuzzedService): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  return until(() => openSockets(port) === 0).then(
    () => [],
    () => [`${openSockets(port)} sockets are left open`],
  );
}

async function storedComplaints({ redis, redisUrl }: FuzzedService): Promise<string[]> {
  const command = yardmaster(['fsck'], { REDIS_URL: redisUrl, DELIVERY_TIMEOUT_SECONDS: '86400' });
  const code = await command.exit();
  return [
    ...(await fsck(redis, PREFIX)),
    ...(code === 0 ? [] : [`fsck ended with ${code}: ${command.out()}${command.err()}`]),
  ];
}

type Memory = Awaited<ReturnType<Inspector['read']>>;

/** What a process may hold more at the end than after a third, in bytes; more than compiled code and full pools take. */
const MAY_GROW_BYTES = 4 * 1_048_576;

/** Growth that comes with each request, and not at once: the heap after the first third against that at the end. */
export function memoryComplaints(samples: Memory[]): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length < 3) return [];
  return (['heapBytes', 'externalBytes'] as const)
    .filter((part) => last[part] - first[part] > MAY_GROW_BYTES)
    .map((part) => `${part} grew: ${samples.map((each) => each[part]).join(', ')}`);
}

/** What a bomb would take that is inflated in full: the API takes some 150 MB for what it does here. */
const MOST_MEGABYTES = 300;

/** The most memory that the API has ever had, in megabytes; 0 where the system does not tell. */
export function peakMegabytes({ api }: FuzzedService): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${api.child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Complain when it was more than clients should be able to make it. */
export const peakComplaints = (megabytes: number): string[] =>
  megabytes > MOST_MEGABYTES ? [`the API took ${megabytes.toFixed(0)} MB`] : [];

/**
 * What must hold once all is sent: nothing is left open, what is stored agrees with itself, and nobody complained or
 * died.
 */
export async function aftermathComplaints(service: FuzzedService): Promise<string[]> {
  service.http.close();
  const complaints = [...(await socketComplaints(service)), ...(await storedComplaints(service))];
  for (const [name, app] of [
    ['API', service.api],
    ['scheduler', service.scheduler],
  ] as const) {
    const isDead = app.child.exitCode !== null || app.child.signalCode !== null;
    const code = await app.stop();
    if (isDead || code !== 0) complaints.push(`the ${name} ended with ${code}`);
    const bad = app
      .output()
      .split('\n')
      .filter((line) => BAD_LINE.test(line));
    complaints.push(...bad.slice(0, 10).map((line) => `the ${name} wrote: ${line.slice(0, 2_000)}`));
  }
  return complaints;
}
