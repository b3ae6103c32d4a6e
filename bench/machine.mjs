// What figures were measured on.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

/** The machine, and the versions that matter: figures without these cannot be compared. */
export const machineOf = async (redis) => machineWith(/^redis_version:(\S+)/m.exec(await redis.info('server'))[1]);

/** The machine, with a Redis whose version is known. */
export const machineWith = (redisVersion) => ({
  cpu: cpus()[0].model,
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1_073_741_824),
  os: `${type()} ${release()}`,
  node: process.version,
  redis: redisVersion,
});

/** A machine in one line. */
export const machineLine = ({ cpu, cores, memoryGb, os, node, redis }) =>
  `${cores} × ${cpu}, ${memoryGb} GB, ${os}, Node.js ${node.replace('v', '')}, Redis ${redis}`;

/**
 * CPU time that all processes of the machine have used since it started, in milliseconds. Work of others is what makes one
 * run differ from the next.
 */
export function machineCpuMs() {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq) * 10;
}
