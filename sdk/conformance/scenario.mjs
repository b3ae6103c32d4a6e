// Run one scenario with the driver of one language.
import { setTimeout as delay } from 'node:timers/promises';
import { startDriver } from './driver.mjs';
import { matches, occursInOrder } from './match.mjs';
import { startProxy } from './proxy.mjs';
import { API_KEY, until } from './service.mjs';

/** Replace `"$a"` by the ID of the job that the scenario calls `a`. */
const withIds = (value, jobs) =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === 'string' && each.startsWith('$') && jobs[each.slice(1)] ? jobs[each.slice(1)] : each,
  );

/** The steps of a scenario. Each gets its value, the whole step and the state of the scenario. */
const STEPS = {
  /** Create a job without the SDK. */
  async create({ as = 'job', ...job }, _, { service, space, jobs }) {
    const { options, ...fields } = job;
    const created = await service.call('POST', `/spaces/${space}/jobs`, { ...fields, ...options });
    jobs[as] = created.id;
  },
  /** Send a command to the driver. */
  sdk: async (command, _, { driver, jobs }) => driver.send(withIds(command, jobs)),
  /** Break a call between the driver and the service. */
  proxy: async (_, step, { proxy }) => proxy.add(step),
  async heal(_, __, { proxy }) {
    proxy.clear();
  },
  advance: (seconds, _, { service }) => service.advance(seconds),
  kill: (job, { reason = 'no longer needed' }, { service, jobs }) =>
    service.call('POST', `/jobs/${jobs[job]}/kill`, { reason }),
  /** Claim and ack a job as another worker would, once it is pending. */
  async steal(job, _, { service, jobs }) {
    const claimed = await until(async () => {
      const outcome = await service.call('POST', `/jobs/${jobs[job]}/claim`);
      return outcome.claimed ? outcome.job : null;
    }, `another worker claims ${job}`);
    await service.call('POST', `/jobs/${claimed.id}/ack`);
  },
  signal: async (name, _, { driver }) => driver.signal(name),
  async exit(code, _, { driver }) {
    const ended = await driver.exited;
    if (ended !== code) throw new Error(`it exited with ${ended}: ${driver.errors()}`);
  },
  /** Wait until a job has these fields. */
  until: ({ job = 'job', ...fields }, _, { service, jobs }) =>
    until(
      async () => matches(withIds(fields, jobs), await service.call('GET', `/jobs/${jobs[job]}`)),
      `${job} is ${JSON.stringify(fields)}`,
    ),
  /** Wait until the driver has printed an event, or this many. */
  untilEvent: ({ times = 1, ...event }, _, { driver, jobs }) =>
    until(
      () => {
        const wanted = withIds(event, jobs);
        return driver.events.filter((each) => matches(wanted, each)).length >= times;
      },
      `it prints ${JSON.stringify(event)}`,
    ),
  /** Wait until this many calls were made. */
  untilCalls: (calls, _, { proxy }) =>
    until(
      () => Object.entries(calls).every(([action, count]) => (proxy.calls[action] ?? 0) >= count),
      `${JSON.stringify(calls)} calls were made`,
    ),
  /** Remember the ID of a job that the driver has created. */
  async created({ as, to = as }, _, { driver, jobs }) {
    const event = await until(
      () => driver.events.find((each) => each.as === as && each.event === 'created'),
      `${as} is created`,
    );
    jobs[to] = event.jobId;
  },
  pauseMs: (ms) => delay(ms),
};

/** Checks at the end of a scenario. Each returns a sentence, or null if it passes. */
const CHECKS = {
  calls: (expected, { proxy }) =>
    matches(expected, { ...zeros(expected), ...proxy.calls }) ? null : `calls were ${JSON.stringify(proxy.calls)}`,
  handlerRuns(expected, { driver }) {
    const runs = driver.events.filter(({ event }) => event === 'handler').length;
    return matches(expected, runs) ? null : `handlers ran ${runs} times`;
  },
  events: (expected, { driver, jobs }) =>
    occursInOrder(withIds(expected, jobs), driver.events) ? null : `events were ${JSON.stringify(driver.events)}`,
  noEvents(expected, { driver, jobs }) {
    const seen = driver.events.find((event) => withIds(expected, jobs).some((each) => matches(each, event)));
    return seen === undefined ? null : `it printed ${JSON.stringify(seen)}`;
  },
  async history(expected, { service, jobs }) {
    const { events } = await service.call('GET', `/jobs/${jobs.job}`);
    const types = events.map(({ type }) => type);
    return matches(expected, types) ? null : `the history was ${types.join(', ')}`;
  },
  async job(expected, { service, jobs }) {
    const job = await service.call('GET', `/jobs/${jobs.job}`);
    return matches(expected, job) ? null : `the job was ${JSON.stringify(job)}`;
  },
  /** Check the log messages of a job. */
  async logs(expected, { service, jobs }) {
    const { logs } = await service.call('GET', `/jobs/${jobs.job}/logs?after=0&limit=1000`);
    return matches(expected, logs) ? null : `the logs were ${JSON.stringify(logs).slice(0, 2_000)}`;
  },
  async jobsInSpace(expected, { service, space }) {
    const { jobs } = await service.call('GET', `/spaces/${space}/stats`);
    return matches(expected, jobs) ? null : `the space had ${JSON.stringify(jobs)}`;
  },
};

const zeros = (expected) => Object.fromEntries(Object.keys(expected).map((action) => [action, 0]));

let spaces = 0;

/** Run a scenario. @returns why it failed; null if it passed */
export async function play({ worker, steps, expect }, language, service) {
  const space = `conformance-${process.pid}-${++spaces}`;
  const proxy = await startProxy(service.url, API_KEY);
  const driver = startDriver(language, {
    YARDMASTER_URL: proxy.url,
    YARDMASTER_API_KEY: API_KEY,
    YARDMASTER_SPACE: space,
  });
  const state = { service, space, proxy, driver, jobs: {} };
  try {
    for (const step of steps) {
      if ('start' in step) {
        driver.send({ do: 'start', worker: { concurrency: 1, drainSeconds: 2, ...worker, ...step.start } });
        await STEPS.untilEvent({ event: 'started' }, step, state);
        continue;
      }
      const name = Object.keys(step).find((each) => each in STEPS);
      if (name === undefined) throw new Error(`unknown step: ${JSON.stringify(step)}`);
      await STEPS[name](step[name], step, state);
    }
    const faults = proxy.isSecretInUrl() ? ['the API key was in a URL'] : [];
    for (const [name, expected] of Object.entries(expect ?? {})) faults.push(await CHECKS[name](expected, state));
    return faults.filter(Boolean).join('; ') || null;
  } catch (error) {
    return `${error.message}; events: ${JSON.stringify(driver.events).slice(0, 3_000)}; calls: ${JSON.stringify(proxy.calls)}; stderr: ${driver.errors().slice(-1_500)}`;
  } finally {
    driver.kill();
    await driver.exited.catch(() => undefined);
    proxy.close();
  }
}
