import { beforeEach, expect, it } from '@jest/globals';
import { compose, type Service } from '@yardmaster/runtime';

const calls: string[] = [];
beforeEach(() => void calls.splice(0));

/** Create a service that records its starts and stops. */
function service(name: string, overrides: Partial<Service> = {}): Service {
  return {
    name,
    async start() {
      calls.push(`start ${name}`);
      await overrides.start?.();
    },
    async stop(withinMs) {
      calls.push(`stop ${name}`);
      await overrides.stop?.(withinMs);
    },
  };
}

const fails = () => Promise.reject(new Error('broken'));

it('starts services in order and stops them in the reverse order, group by group', async () => {
  const composed = compose('all', [[service('a')], [service('b'), service('c')]]);
  await composed.start();
  await composed.stop(1_000);
  expect(calls).toEqual(['start a', 'start b', 'start c', 'stop b', 'stop c', 'stop a']);
});

it('stops the services of a group at the same time', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waits = service('waits', { stop: () => released });
  const releases = service('releases', { stop: async () => release() });
  const composed = compose('all', [[waits, releases]]);
  await composed.start();
  await composed.stop(1_000);
  expect(calls.slice(2)).toEqual(['stop waits', 'stop releases']);
});

it('stops the started services when a start fails, and throws the error of the start', async () => {
  const composed = compose('all', [[service('a')], [service('b', { start: fails, stop: fails })], [service('c')]]);
  await expect(composed.start()).rejects.toThrow('broken');
  expect(calls).toEqual(['start a', 'start b', 'stop b', 'stop a']);
});

it('stops a service that is still starting, and starts no other', async () => {
  let release: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = service('slow', { start: () => started, stop: async () => release() });
  const composed = compose('all', [[service('a'), slow, service('b')]]);
  const starting = composed.start();
  while (!calls.includes('start slow')) await new Promise((resolve) => setImmediate(resolve));
  await composed.stop(1_000);
  await expect(starting).rejects.toThrow('all was stopped while it was starting');
  expect(calls).toEqual(['start a', 'start slow', 'stop a', 'stop slow']);
});

it('stops every service when one of them cannot be stopped, and throws its error', async () => {
  const composed = compose('all', [[service('a')], [service('b', { stop: fails })]]);
  await composed.start();
  await expect(composed.stop(1_000)).rejects.toThrow('broken');
  expect(calls).toEqual(['start a', 'start b', 'stop b', 'stop a']);
});

it('stops services only once when stop is called twice', async () => {
  const composed = compose('all', [[service('a')]]);
  await composed.start();
  await Promise.all([composed.stop(1_000), composed.stop(1_000)]);
  expect(calls).toEqual(['start a', 'stop a']);
});

it('passes only the time that is left to a later group of services', async () => {
  const left: number[] = [];
  const noting = (withinMs: number) => void left.push(withinMs);
  const first = service('first', { stop: async (withinMs) => noting(withinMs) });
  const slow = service('slow', {
    async stop(withinMs) {
      noting(withinMs);
      const startedAt = performance.now();
      while (performance.now() === startedAt);
    },
  });
  const composed = compose('all', [[first], [slow]]);
  await composed.start();
  await composed.stop(1_000);
  expect(left[1]).toBeLessThan(left[0] as number);
});
