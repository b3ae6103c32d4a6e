import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createJob } from '../support/jobs.js';
import { ADMIN_KEY, startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { startCountingProxy } from './counting-proxy.js';
import { append, infos, isFollowed, logs, numbered, printed } from './logs.js';
import { BIN, endAll, runCommand } from './yardmaster.js';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterEach(endAll);
afterAll(() => service.stop());

async function jobWith(count: number): Promise<string> {
  const { id } = await createJob(service, 'endings');
  await append(service, id, numbered(count));
  return id;
}

it('gives up after --timeout with 124, what there is being printed', async () => {
  const run = logs(service, [await jobWith(3), '--follow', '--timeout', '1.5']);
  expect([await run.exit(), run.err()]).toEqual([124, 'yardmaster: gave up after 1.5 s\n']);
  expect(printed(run)).toEqual(infos(numbered(3)));
});

it('ends on Ctrl-C with 130', async () => {
  const run = logs(service, [await jobWith(3), '--follow']);
  await run.shows('entry 3\n');
  run.child.kill('SIGINT');
  expect([await run.exit(), run.err()]).toEqual([130, '']);
});

describe('when nobody reads any more', () => {
  it('ends without a word, with 141', async () => {
    const id = await jobWith(3);
    const run = logs(service, [id, '--follow']);
    await run.shows('entry 3\n');
    await isFollowed(service, id);
    run.child.stdout?.destroy();
    // A pipe shows that it is closed at the second write at the latest.
    await until(async () => {
      await append(service, id, ['unread']);
      return run.child.exitCode !== null;
    });
    expect([run.child.exitCode, run.err()]).toEqual([141, '']);
  });

  it('ends so behind `head -1` too', async () => {
    const id = await jobWith(1_000);
    await append(service, id, numbered(1_000, 1_001));
    const pipeline = `{ "${process.execPath}" "${BIN}" logs ${id}; echo "exit $?" >&2; } | head -1`;
    const env = { YARDMASTER_URL: service.url, YARDMASTER_API_KEY: ADMIN_KEY };
    const run = runCommand('sh', ['-c', pipeline], env);
    expect([await run.exit(), run.err()]).toEqual([0, 'exit 141\n']);
    expect(printed(run)).toEqual(infos(numbered(1)));
  });
});

it('reads no further while nobody takes what it has printed, for however long', async () => {
  const { id } = await createJob(service, 'slow');
  const text = 'x'.repeat(5_000);
  const all = numbered(4_000).map((name) => `${name} ${text}`);
  for (let i = 0; i < all.length; i += 160) await append(service, id, all.slice(i, i + 160));
  const [stuckProxy, otherProxy] = [await startCountingProxy(service.url), await startCountingProxy(service.url)];

  const stuck = logs(stuckProxy, [id]);
  stuck.child.stdout?.pause();
  await until(() => stuckProxy.asked.length > 0);
  // One whose reader takes all has read eight pages meanwhile.
  expect(await logs(otherProxy, [id]).exit()).toBe(0);
  expect([stuckProxy.asked.length, otherProxy.asked.length]).toEqual([1, 8]);
  stuck.child.stdout?.resume();
  expect(await stuck.exit()).toBe(0);
  expect(printed(stuck)).toEqual(infos(all));
  for (const proxy of [stuckProxy, otherProxy]) await proxy.stop();
});
