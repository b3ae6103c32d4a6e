import { readFileSync } from 'node:fs';
import { yardmaster } from '../cli/yardmaster.js';
import type { LiveMemory } from '../support/live-memory.js';
import type { RunningProcess } from '../support/process.js';
import { until } from '../support/until.js';
import type { FuzzedService } from './service.js';

/** Log lines that no request may cause. */
const BAD_LINE = /request failed|unhandled|uncaught|"level":(50|60)|DeprecationWarning|MaxListeners|FATAL/i;

/** Count connections of the API that are not closed: established, or closed only by the client. */
function openSockets(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const fields = rows.map((line) => line.trim().split(/\s+/));
  return fields.filter(([, from, , state]) => from?.endsWith(local) && (state === '01' || state === '08')).length;
}

async function socketComplaints({ port }: FuzzedService): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  await until(() => openSockets(port) === 0, 60_000).catch(() => undefined);
  return openSockets(port) === 0 ? [] : [`${openSockets(port)} sockets are left open`];
}

async function storedComplaints({ redisUrl }: FuzzedService): Promise<string[]> {
  const command = yardmaster(['fsck'], { REDIS_URL: redisUrl, DELIVERY_TIMEOUT_SECONDS: '86400' });
  const code = await command.exit();
  return code === 0 ? [] : [`fsck ended with ${code}: ${command.out()}${command.err()}`];
}

/** Bytes by which memory may grow after the first third; more than compiled code and full pools need. */
const MAY_GROW_BYTES = 4 * 1_048_576;

/** Compare the memory at the end with that after the first third, to find growth with each request. */
export function memoryComplaints(samples: LiveMemory[]): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length < 3) return [];
  const parts = (['heapBytes', 'externalBytes'] as const).filter((part) => last[part] - first[part] > MAY_GROW_BYTES);
  return parts.map((part) => `${part} grew: ${samples.map((each) => each[part])}`);
}

async function endComplaints(name: string, app: RunningProcess): Promise<string[]> {
  const isDead = app.child.exitCode !== null || app.child.signalCode !== null;
  const code = await app.stop();
  const lines = app.output().match(new RegExp(`.*(${BAD_LINE.source}).*`, 'gi')) ?? [];
  const wrote = lines.slice(0, 10).map((line) => `the ${name} wrote: ${line.slice(0, 2_000)}`);
  return isDead || code !== 0 ? [`the ${name} ended with ${code}`, ...wrote] : wrote;
}

/** Check the end of a run: no open sockets, no faults in what is stored, no errors in logs, and exit code 0. */
export async function aftermathComplaints(service: FuzzedService): Promise<string[]> {
  service.http.close();
  return [
    ...(await socketComplaints(service)),
    ...(await storedComplaints(service)),
    ...(await endComplaints('API', service.api)),
    ...(await endComplaints('scheduler', service.scheduler)),
  ];
}
