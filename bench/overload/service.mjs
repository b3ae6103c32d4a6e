// A separate service for each scenario, requests to it, and measurements that all scenarios share.
import { percentile } from '../meter.mjs';
import { ADMIN_API_KEY, rssBytes, startApp, startRedis, startWorker } from '../processes.mjs';

const MB = 1_048_576;

/** Path that other callers read during an overload. */
export const PROBED = '/spaces/elsewhere/jobs?limit=1';

const worker = (name) => startWorker(new URL(`./${name}.mjs`, import.meta.url));

/** Run a scenario with its own Redis, API, scheduler and workers. @param more additional settings of the API */
export async function withService(run, more = {}) {
  const parts = [];
  const started = (part) => {
    parts.unshift(part);
    return part;
  };
  try {
    const redis = started(await startRedis({ overTcp: true }));
    const settings = { REDIS_URL: redis.url, LOG_LEVEL: 'info', ...more };
    const api = started(await startApp('api', settings));
    started(await startApp('scheduler', { REDIS_URL: redis.url }));
    const [load, others, flood] = ['load', 'load', 'flood'].map((name) => started(worker(name)));
    return await run({ redis, api, access: { url: api.url, key: ADMIN_API_KEY }, load, others, flood });
  } finally {
    for (const part of parts) await part.stop();
  }
}

/** Make a POST request. @returns the parsed body of the response */
export async function post({ url, key }, path, body) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

/** Create an API key for a space. */
export async function keyFor(access, spaceId) {
  const scopes = ['jobs:create', 'jobs:worker', 'jobs:read'];
  return (await post(access, '/keys', { name: spaceId, scopes, spaceId })).key;
}

/** Measure the memory of a process while something runs. @returns maximum growth in MB */
export async function peakOf(pid, run) {
  const before = rssBytes(pid);
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, rssBytes(pid));
  }, 50);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return (peak - before) / MB;
}

const partOf = (times, part) =>
  percentile(
    times.toSorted((a, b) => a - b),
    part,
  ) ?? 0;

/** Check response times: the 99th percentile must be at most 200 ms, or five times that of GET /livez. */
export function checkTimes({ [PROBED]: probed, '/livez': live }, what) {
  const [p99, live99] = [probed, live].map(({ times }) => partOf(times, 0.99));
  const [p50, ...others] = [partOf(probed.times, 0.5), p99, live99].map(Math.round);
  const seen = `p50 ${p50} ms, p99 ${others[0]} ms, GET /livez p99 ${others[1]} ms`;
  return [`${what}: p99 ≤ 200 ms or 5 × GET /livez`, seen, p99 <= Math.max(200, 5 * live99)];
}
