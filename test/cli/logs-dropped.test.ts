import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { LogsRequest } from '@yardmaster/cli';
import { createJob } from '../support/jobs.js';
import { startService, type TestService } from '../support/service.js';
import { append, infos, logs, logsHere, numbered, printed } from './logs.js';
import { work } from './worker.js';
import { endAll, type Run } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: '10' });
});
afterEach(endAll);
afterAll(() => service.stop());

async function jobWith(count: number): Promise<string> {
  const { id } = await createJob(service, 'dropped');
  await append(service, id, numbered(count));
  return id;
}

describe('entries that newer ones have driven out', () => {
  it('are told in one line, apart from the others, which are printed', async () => {
    const run = logs(service, [await jobWith(25)]);
    expect(await run.exit()).toBe(0);
    expect(printed(run)).toEqual(infos(numbered(10, 16)));
    expect(run.err()).toBe('entries 1 to 15 are no longer kept\n');
  });

  it.each([
    [{ levels: ['info'] }, 10],
    [{ grep: 'entry 2' }, 6],
    [{ tail: 3 }, 3],
    [{ tail: 50 }, 10],
    [{ tail: 0 }, 0],
  ] as [Partial<LogsRequest>, number][])('are not told of where not all were asked for: %j', async (fields, count) => {
    const { messages, err } = await logsHere(service, await jobWith(25), fields);
    expect([messages, err]).toEqual([infos(numbered(count, 26 - count)), '']);
  });
});

describe('entries that are driven out while they are followed', () => {
  async function follow(...flags: string[]): Promise<Run> {
    const id = await jobWith(3);
    const run = logs(service, [id, '--follow', ...flags]);
    await run.shows('entry 3');
    await append(service, id, numbered(1_000, 4));
    await run.shows('entry 1003\n');
    await work(service, id, 'kill');
    expect(await run.exit()).toBe(4);
    expect(printed(run)).toEqual(infos([...numbered(3), ...numbered(10, 994)]));
    return run;
  }

  it.each([[[]], [['--tail', '5']]])('are told with %j', async (flags) => {
    expect((await follow(...flags)).err()).toBe('entries 4 to 993 are no longer kept\n');
  });

  it.each([[['--level', 'info']], [['--grep', 'entry']]])('are not told with %j', async (flags) => {
    expect((await follow(...flags)).err()).toBe('');
  });
});
