// The figures of bench:latency as a table for each rate.
import { machineLine } from '../machine.mjs';

const ORDER = [
  'create → answer',
  'create → handed out',
  'empty poll → answer',
  'poll with jobs → answer',
  'ack → answer',
  'progress → answer',
  'complete → answer',
  'progress → socket',
  'load late',
];

const row = (label, columns) => `  ${label.padEnd(26)}${columns.map((text) => String(text).padStart(10)).join('')}`;

function tableOf({ wantedJobsPerSecond, jobsPerSecond, failed, notDone, messagesMissing, firstFaults, times, cores }) {
  const rows = ORDER.filter((name) => times[name]).map((name) => {
    const { count, p50Ms, p90Ms, p99Ms, p999Ms, maxMs } = times[name];
    return row(name, [...[p50Ms, p90Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(2)), count]);
  });
  const used = Object.entries(cores).map(([name, part]) => `${name} ${part.toFixed(2)}`);
  return [
    row(`${wantedJobsPerSecond} jobs/s, ms`, ['p50', 'p90', 'p99', 'p99.9', 'max', 'count']),
    ...rows,
    `  cores: ${used.join(', ')}`,
    `  ${jobsPerSecond.toFixed(1)} jobs/s done, ${notDone} not; ${failed} calls failed; ${messagesMissing} messages missing`,
    ...firstFaults.map((fault) => `  ${fault}`),
    '',
  ];
}

export function latencyReport({ machine, options, rates }) {
  return [
    machineLine(machine),
    `${options.seconds} s at each rate; each of ${options.spaces} spaces is polled every ${options.pollEveryMs} ms; ${options.watchedJobs} jobs with a stream report every ${options.reportEveryMs} ms`,
    'Times count from when a call should have been sent; `load late` is how late the load itself was, which is part of them',
    '',
    ...rates.flatMap(tableOf),
  ].join('\n');
}
