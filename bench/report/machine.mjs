// The machine of a measurement.
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';

/** Describe the machine and its versions, which are needed to compare figures. */
export const machineOf = async (redis) => machineWith(/^redis_version:(\S+)/m.exec(await redis.info('server'))[1]);

/** Describe the machine with this version of Redis. */
export const machineWith = (redisVersion) => ({
  cpu: cpus()[0].model,
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1_073_741_824),
  os: `${type()} ${release()}`,
  node: process.version,
  redis: redisVersion,
});

/** Format a machine as one line. */
export const machineLine = ({ cpu, cores, memoryGb, os, node, redis }) =>
  `${cores} × ${cpu}, ${memoryGb} GB, ${os}, Node.js ${node.replace('v', '')}, Redis ${redis}`;

/**
 * Read the CPU time of all processes since the machine started, in milliseconds. Other processes make runs differ.
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
